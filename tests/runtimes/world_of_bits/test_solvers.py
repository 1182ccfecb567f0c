"""Tasks of all kinds, by VNC: who does what is asked for gets the whole reward, who does not gets a negative one."""

from __future__ import annotations

import pytest
from support.nightly import nightly_but
from support.wob import Player
from support.wob_solvers import FAILURES, SOLVERS

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

# One whose tasks can't be failed into being solved: where what is asked for isn't what there is already.
SEED = 22


EACH_DAY = {"ClickTab2", "GridCoordinate", "LoginUser"}


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


@pytest.mark.parametrize("name", nightly_but(EACH_DAY, FAILURES))
async def test_who_does_something_else_gets_a_negative_reward(player: Player, name: str) -> None:
    await player.begin(f"wob.mini.{name}NoDecay-v0", SEED)
    await FAILURES[name](player)
    end = await player.end()
    assert end["reward"] < 0
    assert (end["terminated"], end["truncated"]) == (True, False)
    assert end["info"]["reason"] != "timed out"


async def test_the_reward_fades_with_the_time_that_the_task_took(player: Player) -> None:
    rewards: list[float] = []
    for _ in range(2):
        await player.begin("wob.mini.ClickButton-v0", SEED)
        await SOLVERS["ClickButton"](player)
        rewards.append((await player.end())["reward"])
    assert all(0 < reward < 1 for reward in rewards)
