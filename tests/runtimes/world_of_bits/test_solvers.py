"""Tasks of all kinds, by VNC: who does what is asked for gets the whole reward, who does not gets a negative one."""

import re
from collections.abc import Awaitable, Callable
from typing import Final

import pytest
from support.nightly import nightly_but
from support.wob import Player

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

# One whose tasks can't be failed into being solved: where what is asked for isn't what there is already.
SEED = 22
EACH_DAY = {"ClickTab2", "GridCoordinate", "LoginUser"}

Solver = Callable[[Player], Awaitable[None]]


def quoted(player: Player) -> list[str]:
    """What the instruction has in quotation marks."""
    return re.findall(r'"(.*?)"', player.text)


async def submit(player: Player) -> None:
    """Click the button that is for it, whatever there is on the page."""
    await player.click(await player.find("button", "Submit"))


async def click_button(player: Player) -> None:
    await player.click(await player.find("button", quoted(player)[0]))


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


async def login_user(player: Player) -> None:
    """By keyboard alone, once the first field has the focus."""
    name, password = quoted(player)
    await player.click(await player.find("input", id="username"))
    player.type(f"{name}\t{password}\t\r")


async def grid_coordinate(player: Player) -> None:
    wanted = re.findall(r"\(.*\)", player.text)[0]
    await player.click(await player.find("circle", id=wanted))


SOLVERS: Final[dict[str, Solver]] = {
    "ClickButton": click_button,
    "ClickTab2": click_tab,
    "GridCoordinate": grid_coordinate,
    "LoginUser": login_user,
}


@pytest.mark.parametrize("name", nightly_but(EACH_DAY, SOLVERS))
async def test_who_solves_a_task_gets_the_whole_reward_and_who_comes_next_finds_it_as_it_was(
    player: Player, name: str
) -> None:
    await player.begin(f"wob.mini.{name}NoDecay-v0", SEED)
    text, outline = player.text, player.outline()
    await SOLVERS[name](player)
    end = await player.end()
    assert (end["reward"], end["terminated"], end["truncated"]) == (1.0, True, False)
    await player.begin(f"wob.mini.{name}NoDecay-v0", SEED)
    assert player.text == text
    # A page may still put its things in order when its episode begins.
    await player.see(lambda: player.outline() == outline)


async def test_who_does_something_else_gets_a_negative_reward(player: Player) -> None:
    await player.begin("wob.mini.GridCoordinateNoDecay-v0", SEED)
    wanted = re.findall(r"\(.*\)", player.text)[0]
    await player.click(next(point for point in player.all("circle") if point.id != wanted))
    end = await player.end()
    assert end["reward"] < 0
    assert (end["terminated"], end["truncated"]) == (True, False)
    assert end["info"]["reason"] != "timed out"


async def test_a_page_that_measures_where_one_clicks_counts_from_its_own_corner(player: Player) -> None:
    await player.begin("wob.mini.CircleCenterNoDecay-v0", SEED)
    await player.click(await player.find("circle"))
    await submit(player)
    # The dot's middle lies half a pixel beside the place that the page compares.
    assert (await player.end())["reward"] > 0.9


async def test_the_reward_fades_with_the_time_that_the_task_took(player: Player) -> None:
    rewards: list[float] = []
    for _ in range(2):
        await player.begin("wob.mini.ClickButton-v0", SEED)
        await SOLVERS["ClickButton"](player)
        rewards.append((await player.end())["reward"])
    assert all(0 < reward < 1 for reward in rewards)
