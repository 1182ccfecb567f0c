"""The puzzles of the runtime: each is played in a whole remote, and pays what its rules say."""

from __future__ import annotations

import asyncio
import contextlib
from itertools import cycle
from typing import Any

import pytest
from support.free_games import playing
from support.waiting import eventually

# What is waited for below, and for the start, may take longer together than a test may otherwise.
pytestmark = [pytest.mark.slow, pytest.mark.display, pytest.mark.timeout(360)]

# All on green tiles.
PATH = "sdsde"

# A word of the menu beside the field.
ABORT = (590, 398)

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


@pytest.mark.nightly
async def test_pieces_that_are_dropped_fill_the_field_of_ltris_and_it_begins_anew() -> None:
    async with playing("LTris") as game:
        bodies: list[dict[str, Any]] = []
        while not bodies:
            await game.press("End")
            with contextlib.suppress(TimeoutError):  # while a piece lands, no other can be dropped
                async with asyncio.timeout(MOVE_S):
                    bodies.append(await game.reward())
        assert (bodies[0]["reward"], bodies[0]["info"]["reason"]) == (0, "game over")
        await game.running()
        await eventually(lambda: game.reading("score") == 0)


@pytest.mark.nightly
async def test_monsterz_is_played_by_clicks_and_over_when_it_is_aborted() -> None:
    async with playing("Monsterz") as game:
        await eventually(lambda: game.reading("score") == 0)
        while not game.remote.status()["last_episodes"]:
            # The first begins the level.
            for buttons in (0, 1, 0):
                game.viewer.pointer(*ABORT, buttons)
                await game.changes()
            with contextlib.suppress(TimeoutError):
                await eventually(lambda: game.remote.status()["last_episodes"], MOVE_S)
        assert game.remote.status()["last_episodes"][-1]["reason"] == "game over"
        await game.running()
        await eventually(lambda: game.reading("score") == 0)


@pytest.mark.nightly
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
