"""Solves tasks of World of Bits as a person would: reads what is on the page, then clicks, drags and types by VNC.

``SOLVERS`` are by the tasks' names in their ids.
"""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Awaitable, Callable
from typing import Final

from support.wob import WHEEL_DOWN, WHEEL_UP, Player, Thing

Solver = Callable[[Player], Awaitable[None]]

# Each way through three of nine squares in a row, a column or across.
LINES: Final = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

MONTHS: Final = tuple(calendar.month_name)

# A circle is drawn by so many moves.
ARC_STEPS: Final = 24

# Pixels by which one aims beyond the middle of something, or within its edge.
A_BIT: Final = 6


def quoted(player: Player) -> list[str]:
    """What the instruction has in quotation marks."""
    return re.findall(r'"(.*?)"', player.text)


async def submit(player: Player) -> None:
    """Click the button that is for it, whatever there is on the page."""
    await player.click(await player.find("button", "Submit"))


async def click_button(player: Player) -> None:
    await player.click(await player.find("button", quoted(player)[0]))


async def tick(player: Player, condition: Callable[[bool], bool]) -> None:
    """Tick the boxes that are, or aren't, in the instruction."""
    wanted = re.findall(r"Select (.*) and click Submit\.", player.text)[0].split(", ")
    for label in player.all("label"):
        if condition(label.text in wanted):
            await player.click(label)
    await submit(player)


async def click_checkboxes(player: Player) -> None:
    await tick(player, lambda named: named)


async def click_tab(player: Player) -> None:
    """Look into one tab after the other for a link."""
    (wanted,) = quoted(player)
    tabs = player.all("a", of="ui-tabs-anchor")
    for tab in tabs:
        await player.click(tab)
        panel = tab.attributes["href"].removeprefix("#")
        await player.see(lambda panel=panel: player.all("div", id=panel))
        if links := player.all("span", wanted):
            await player.click(links[0])
            return


async def click_collapsible(player: Player) -> None:
    """Look into one section after the other for a link."""
    (wanted,) = quoted(player)
    for number in range(len(player.all("h3"))):
        await player.click(player.all("h3")[number])
        await player.see(lambda number=number: "true" in player.all("h3")[number].attributes["aria-expanded"])
        if links := player.all("span", wanted):
            await player.click(links[0])
            return


async def choose_list(player: Player) -> None:
    """Type the beginning of what is wanted, as one does with closed lists."""
    wanted = re.fullmatch(r"Select (.*) from the list and click Submit\.", player.text)
    assert wanted
    await player.click(await player.find("select"))
    player.type(f"{wanted[1]}\r")
    await player.see(lambda: player.all("select")[0].value == wanted[1])
    await submit(player)


async def enter_text(player: Player) -> None:
    await player.click(await player.find("input"))
    player.type(quoted(player)[0])
    await submit(player)


async def enter_password(player: Player) -> None:
    for field in ("password", "verify"):
        await player.click(await player.find("input", id=field))
        player.type(quoted(player)[0])
    await submit(player)


async def login_user(player: Player) -> None:
    """By keyboard alone, once the first field has the focus."""
    name, password = quoted(player)
    await player.click(await player.find("input", id="username"))
    player.type(f"{name}\t{password}\t\r")


async def use_slider(player: Player) -> None:
    """With the arrow keys: clicking the handle gives them to it, and may move it."""
    wanted = int(re.findall(r"-?\d+", player.text)[0])

    def value() -> int:
        return int(player.all("div", id="val")[0].text)

    await player.click(await player.find("span", of="ui-slider-handle"))
    await player.find("span", of="ui-state-focus")
    while (now := value()) != wanted:
        player.press("Right" if wanted > now else "Left", abs(wanted - now))
        await player.see(lambda now=now: abs(value() - wanted) in (0, abs(now - wanted) - 1))
    await submit(player)


async def use_spinner(player: Player) -> None:
    wanted = int(re.findall(r"-?\d+", player.text)[0])
    way = "up" if wanted > 0 else "down"
    button = await player.find("a", of=f"ui-spinner-{way}")
    for value in range(1, abs(wanted) + 1):
        await player.click(button)
        await player.see(lambda value=value: player.all("input")[0].value in (str(value), str(-value)))
    await submit(player)


async def choose_date(player: Player) -> None:
    """Leaf through the calendar to the month, then click the day."""
    month, day, _ = map(int, re.findall(r"\d+", player.text))
    await player.click(await player.find("input", id="datepicker"))
    shown = await player.find("span", of="ui-datepicker-month")
    while (distance := month - MONTHS.index(shown.text)) != 0:
        await player.click(await player.find("a", of="ui-datepicker-next" if distance > 0 else "ui-datepicker-prev"))
        last = shown.text
        await player.see(lambda last=last: player.all("span", of="ui-datepicker-month")[0].text != last)
        (shown,) = player.all("span", of="ui-datepicker-month")
    await player.click(await player.find("a", str(day), of="ui-state-default"))
    await player.see(lambda: player.all("input", id="datepicker")[0].value and not player.all("a", str(day)))
    await submit(player)


async def drag_box(player: Player) -> None:
    small, large = await player.find(id="draggableSmall"), await player.find(id="draggableLarge")
    # The middle of the one over that of the other isn't within what the task allows: sizes are without borders there.
    away = (large.x + 13 - small.x, large.y + 13 - small.y)
    await player.drag(small.middle, (small.middle[0] + away[0], small.middle[1] + away[1]))
    await submit(player)


async def drag_sort_numbers(player: Player) -> None:
    """Take the greatest that isn't at its place yet to the end, again and again."""

    def rows() -> list[Thing]:
        return player.all("li", of="ui-state-default")

    def numbers() -> list[int]:
        return [int(thing.text) for thing in player.all("div") if re.fullmatch(r"-?\d+", thing.text)]

    wanted = sorted(numbers())
    for number in wanted:
        if numbers() == wanted:
            break
        x, y = rows()[-1].middle
        await player.drag(rows()[numbers().index(number)].middle, (x, y + A_BIT), steps=8)
        await player.see(lambda number=number: len(numbers()) == len(wanted) and numbers()[-1] == number)
    await submit(player)


async def draw_line(player: Player) -> None:
    dot, paper = await player.find("circle"), await player.find("svg")
    # The task goes by the dot's corner.
    x, y = dot.x + 1, dot.y + 1
    if "vertical" in player.text:
        await player.drag((x, paper.y + A_BIT), (x, paper.y + paper.height - A_BIT), steps=16)
    else:
        await player.drag((paper.x + A_BIT, y), (paper.x + paper.width - A_BIT, y), steps=16)
    await submit(player)


async def draw_circle(player: Player) -> None:
    x, y = (await player.find("circle")).middle
    turns = [2 * math.pi * step / ARC_STEPS for step in range(ARC_STEPS + 1)]
    await player.drag(*((x + 20 * math.cos(turn), y + 20 * math.sin(turn)) for turn in turns), steps=1)
    await submit(player)


async def scroll_text(player: Player) -> None:
    """Turn the wheel, and turn it again, until there is nothing more to see."""
    down = "bottom" in player.text

    def left() -> float:
        (area,) = player.all("textarea")
        return area.below if down else area.above

    while (now := left()) >= 1:
        await player.wheel(await player.find("textarea"), WHEEL_DOWN if down else WHEEL_UP)
        await player.see(lambda now=now: left() < now)
    await submit(player)


async def search_engine(player: Player) -> None:
    name, number = quoted(player)[0], int(re.findall(r"the (\d+)", player.text)[0])
    await player.click(await player.find("input", id="search-text"))
    player.type(name)
    await player.click(await player.find("button", "Search"))
    page = (number - 1) // 3 + 1
    if page > 1:
        await player.click(await player.find("a", str(page), of="page-link"))
    await player.click(await player.find("a", **{"data-result": str(number - 1)}))


async def trash(player: Player, condition: Callable[[bool], bool]) -> None:
    """Click the trash of an email that is, or isn't, by whom the instruction names."""
    sender = re.findall(r"by (\S+)", player.text)[0]
    await player.find("span", of="trash")
    rows = player.all("div", of="email-sender")
    y = next(row.y for row in rows if condition(row.text == sender))
    await player.click(min(player.all("span", of="trash"), key=lambda trash: abs(trash.y - y)))


async def delete_email(player: Player) -> None:
    await trash(player, lambda named: named)


async def open_folders(player: Player, found: Callable[[], list[Thing]]) -> None:
    """Open what is closed, from the top, until there is what one looks for; then click it."""
    while not found():
        await player.click(await player.find("div", of="expandable-hitarea"))
        count = len(player.all("div", of="collapsable-hitarea"))
        await player.see(lambda count=count: len(player.all("div", of="collapsable-hitarea")) > count)
    await player.click(found()[0])


async def navigate_tree(player: Player) -> None:
    (wanted,) = quoted(player)
    await open_folders(player, lambda: player.all("span", wanted))


def squares(player: Player) -> str:
    """The squares of the game, each " ", "x" or "o"."""
    found = [player.all("span", id=f"ttt-{number}")[0] for number in range(9)]
    return "".join(next((mark for mark in "xo" if square.has_class(f"mark-{mark}")), " ") for square in found)


def completing(board: str, mark: str) -> list[int]:
    """The free squares on which this mark makes three."""
    lines = [[(at, board[at]) for at in line] for line in LINES]
    return [at for line in lines if [found for _, found in line].count(mark) == 2 for at, found in line if found == " "]


def over(board: str) -> bool:
    """Whether nothing is left to play for."""
    return " " not in board or any(board[a] == board[b] == board[c] != " " for a, b, c in LINES)


async def tic_tac_toe(player: Player) -> None:
    """Win where that can be done, else see to it that the other doesn't."""
    while not over(board := squares(player)):
        winning = completing(board, "x")
        free = [square for square in (4, 0, 2, 6, 8, 1, 3, 5, 7) if board[square] == " "]
        await player.click(player.all("span", id=f"ttt-{(winning + completing(board, 'o') + free)[0]}")[0])
        if not await player.sees(lambda board=board: squares(player).count(" ") == board.count(" ") - 2):
            return


async def copy_paste(player: Player) -> None:
    await player.click(await player.find("textarea"))
    for key in "ac":
        player.press(key, hold="Control")
    await player.click(await player.find("input", id="answer-input"))
    player.press("v", hold="Control")
    await submit(player)


async def use_autocomplete(player: Player) -> None:
    """Type the beginning, then take the suggestion that ends as it should."""
    beginning, ending = [*quoted(player), ""][:2]
    await player.click(await player.find("input", id="tags"))
    player.type(beginning)

    def suggestions() -> list[Thing]:
        items = player.all("div", of="ui-menu-item-wrapper")
        if not all(item.text.lower().startswith(beginning.lower()) for item in items):
            return []  # those of fewer letters: they will move
        return [item for item in items if item.text.startswith(beginning) and item.text.endswith(ending)]

    await player.see(suggestions)
    await player.click(suggestions()[0])
    await player.see(lambda: not player.all("div", of="ui-menu-item-wrapper"))
    await submit(player)


async def highlight_text(player: Player) -> None:
    text = await player.find(id="randomText")
    await player.drag((text.x, text.y + 2), (text.x + text.width - 1, text.y + text.height - 2))
    await submit(player)


async def grid_coordinate(player: Player) -> None:
    wanted = re.findall(r"\(.*\)", player.text)[0]
    await player.click(await player.find("circle", id=wanted))


async def simple_arithmetic(player: Player) -> None:
    problem = await player.find("div", id="math-problem")
    left, action, right = re.fullmatch(r"(\d+) (.) (\d+) =", problem.text).groups()  # pyright: ignore[reportOptionalMemberAccess]
    answer = {"+": int(left) + int(right), "-": int(left) - int(right), "x": int(left) * int(right)}[action]
    await player.click(await player.find("input", id="math-answer"))
    player.type(str(answer))
    await submit(player)


SOLVERS: Final[dict[str, Solver]] = {
    "ChooseDateNodelay": choose_date,
    "ChooseList": choose_list,
    "ClickButton": click_button,
    "ClickCheckboxes": click_checkboxes,
    "ClickCollapsible2Nodelay": click_collapsible,
    "ClickTab2": click_tab,
    "CopyPaste": copy_paste,
    "DragBox": drag_box,
    "DragSortNumbers": drag_sort_numbers,
    "DrawCircle": draw_circle,
    "DrawLine": draw_line,
    "EmailInboxDelete": delete_email,
    "EnterPassword": enter_password,
    "EnterText": enter_text,
    "GridCoordinate": grid_coordinate,
    "HighlightText": highlight_text,
    "LoginUser": login_user,
    "NavigateTree": navigate_tree,
    "ScrollText2": scroll_text,
    "SearchEngine": search_engine,
    "SimpleArithmetic": simple_arithmetic,
    "TicTacToe": tic_tac_toe,
    "UseAutocompleteNodelay": use_autocomplete,
    "UseSlider": use_slider,
    "UseSpinner": use_spinner,
}
