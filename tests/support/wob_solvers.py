"""Solves tasks of World of Bits as a person would: reads what is on the page, then clicks, drags and types by VNC.

``SOLVERS`` are by the tasks' names in their ids, one for each way in which tasks are done; ``FAILURES`` get it wrong.
"""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Awaitable, Callable
from typing import Final

from support.wob import WHEEL_DOWN, WHEEL_UP, Player

Solver = Callable[[Player], Awaitable[None]]


MONTHS: Final = tuple(calendar.month_name)

# A circle is drawn by so many moves.
ARC_STEPS: Final = 24


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


async def enter_text(player: Player) -> None:
    await player.click(await player.find("input"))
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


async def copy_paste(player: Player) -> None:
    await player.click(await player.find("textarea"))
    for key in "ac":
        player.press(key, hold="Control")
    await player.click(await player.find("input", id="answer-input"))
    player.press("v", hold="Control")
    await submit(player)


async def grid_coordinate(player: Player) -> None:
    wanted = re.findall(r"\(.*\)", player.text)[0]
    await player.click(await player.find("circle", id=wanted))


SOLVERS: Final[dict[str, Solver]] = {
    "ChooseDateNodelay": choose_date,
    "ClickButton": click_button,
    "ClickCheckboxes": click_checkboxes,
    "ClickTab2": click_tab,
    "CopyPaste": copy_paste,
    "DragBox": drag_box,
    "DrawCircle": draw_circle,
    "EnterText": enter_text,
    "GridCoordinate": grid_coordinate,
    "LoginUser": login_user,
    "ScrollText2": scroll_text,
    "UseSlider": use_slider,
}


async def click_another_button(player: Player) -> None:
    wanted = quoted(player)[0]
    await player.see(lambda: player.all("button"))
    await player.click(next(button for button in player.all("button") if button.text != wanted))


async def click_other_checkboxes(player: Player) -> None:
    await tick(player, lambda named: not named)


async def click_another_link(player: Player) -> None:
    (wanted,) = quoted(player)
    await player.see(lambda: player.all("span", of="alink"))
    await player.click(next(link for link in player.all("span", of="alink") if link.text != wanted))


async def log_in_as_nobody(player: Player) -> None:
    await player.click(await player.find("button", "Login"))


async def click_another_coordinate(player: Player) -> None:
    wanted = re.findall(r"\(.*\)", player.text)[0]
    await player.click(next(point for point in player.all("circle") if point.id != wanted))


# Who does nothing but submit has failed, too.
FAILURES: Final[dict[str, Solver]] = {
    **dict.fromkeys(SOLVERS, submit),
    "ClickButton": click_another_button,
    "ClickCheckboxes": click_other_checkboxes,
    "ClickTab2": click_another_link,
    "GridCoordinate": click_another_coordinate,
    "LoginUser": log_in_as_nobody,
}
