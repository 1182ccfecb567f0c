"""Ends tasks of World of Bits with something wrong, by VNC. ``FAILURES`` are by the tasks' names in their ids."""

from __future__ import annotations

import re
from typing import Final

from support.wob import Player
from support.wob_solvers import SOLVERS, Solver, completing, open_folders, over, quoted, squares, submit, tick, trash


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


async def expand_and_click_another_link(player: Player) -> None:
    await player.click(player.all("h3")[0])
    await click_another_link(player)


async def log_in_as_nobody(player: Player) -> None:
    await player.click(await player.find("button", "Login"))


async def search_for_nothing(player: Player) -> None:
    await player.click(await player.find("button", "Search"))
    await player.click(await player.find("a", of="search-title"))


async def delete_another_email(player: Player) -> None:
    await trash(player, lambda named: not named)


async def click_another_file(player: Player) -> None:
    (wanted,) = quoted(player)
    await open_folders(player, lambda: [file for file in player.all("span", of="file") if file.text != wanted])


async def lose_tic_tac_toe(player: Player) -> None:
    """Let the other win, if it wants to, until the last square is taken."""
    while not over(board := squares(player)):
        avoided = completing(board, "x") + completing(board, "o")
        free = [square for square in range(9) if board[square] == " "]
        chosen = next((square for square in free if square not in avoided), free[0])
        await player.click(player.all("span", id=f"ttt-{chosen}")[0])
        if not await player.sees(lambda board=board: squares(player).count(" ") == board.count(" ") - 2):
            return


async def click_another_coordinate(player: Player) -> None:
    wanted = re.findall(r"\(.*\)", player.text)[0]
    await player.click(next(point for point in player.all("circle") if point.id != wanted))


# Who does nothing but submit has failed, too.
FAILURES: Final[dict[str, Solver]] = {
    **dict.fromkeys(SOLVERS, submit),
    "ClickButton": click_another_button,
    "ClickCheckboxes": click_other_checkboxes,
    "ClickCollapsible2Nodelay": expand_and_click_another_link,
    "ClickTab2": click_another_link,
    "EmailInboxDelete": delete_another_email,
    "GridCoordinate": click_another_coordinate,
    "LoginUser": log_in_as_nobody,
    "NavigateTree": click_another_file,
    "SearchEngine": search_for_nothing,
    "TicTacToe": lose_tic_tac_toe,
}
