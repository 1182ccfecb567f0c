"""The puzzles of the runtime: each is played in a whole remote, and pays what its rules say."""

from __future__ import annotations

import contextlib
from itertools import cycle

import pytest
from support.free_games import playing
from support.waiting import eventually

# What is waited for below, and for the start, may take longer together than a test may otherwise.
pytestmark = pytest.mark.timeout(360)

# All on green tiles.
PATH = "sdsde"

# A move of 2048 that is possible has begun to be seen after so long, on a busy machine too.
MOVE_S = 0.5


async def test_each_jump_of_hex_a_hop_pays_and_undoing_it_takes_that_back() -> None:
    async with playing("HexAHop") as game:
        for jumps, key in enumerate(PATH, 1):
            await game.press(key)
            assert (await game.reward())["reward"] == 1
            await eventually(lambda count=jumps: game.reading("jumps") == count)
            await game.changes()
        await game.press("u")
        assert (await game.reward())["reward"] == -1
        await game.reset()
        await eventually(lambda: game.reading("jumps") == 0)
        await game.press("e")
        assert (await game.reward())["reward"] == 1


async def test_2048_pays_what_its_tiles_merge_to_and_is_reset_to_another_board() -> None:
    async with playing("Gnome2048") as game:
        moves = cycle(("Left", "Down", "Right", "Down"))
        while game.remote.status()["episode_reward"] < 8:
            await game.press(next(moves))
            with contextlib.suppress(TimeoutError):  # not every move is possible
                await game.changes(MOVE_S)
        await eventually(lambda: game.remote.status()["episode_reward"] == game.reading("score"))
        assert game.reading("score") % 4 == 0
        await game.reset()
        await eventually(lambda: game.reading("score") == 0)
