"""The puzzles of the runtime: each is played in a whole remote, and pays what its rules say."""

import pytest
from support.free_games import playing
from support.waiting import eventually

# What is waited for below, and for the start, may take longer together than a test may otherwise.
pytestmark = [pytest.mark.slow, pytest.mark.display, pytest.mark.timeout(360)]

# All on green tiles.
PATH = "sdsde"


async def test_each_jump_of_hex_a_hop_pays_and_undoing_it_takes_that_back() -> None:
    async with playing("HexAHop") as game:
        for jumps, key in enumerate(PATH, 1):
            await game.press(key)
            assert (await game.agent.hear_reward())["reward"] == 1
            await eventually(lambda count=jumps: game.reading("jumps") == count)
            await game.changes()
        await game.press("u")
        assert (await game.agent.hear_reward())["reward"] == -1
        await game.reset()
        await eventually(lambda: game.reading("jumps") == 0)
        await game.press("e")
        assert (await game.agent.hear_reward())["reward"] == 1
