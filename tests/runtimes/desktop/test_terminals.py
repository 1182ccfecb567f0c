"""The games in a terminal: each is played in a whole remote, to its end where that comes soon."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Any

import pytest
from pluriverse_server.x11.connection import hang_up, open_display
from support.free_games import Played, playing
from support.nightly import nightly_but
from support.rfb import RfbClient
from support.waiting import DEADLINE_S, eventually
from Xlib import XK, X

# What is waited for below, and for the start, may take longer together than a test may otherwise.
pytestmark = [pytest.mark.slow, pytest.mark.display, pytest.mark.timeout(360)]

# Characters are 12x24 pixels. The buggy is from column 54 on, and its jump is as long as a crater with two to spare.
GROUND = slice(506, 526)
NEAR = range(51, 54)

LANDING_S = 0.5


@pytest.mark.nightly
async def test_dropped_pieces_pay_until_the_field_of_vitetris_is_full() -> None:
    async with playing("Vitetris") as game:
        bodies: list[dict[str, Any]] = []
        while not (bodies and bodies[-1]["done"]):
            await game.press("space")
            with contextlib.suppress(TimeoutError):  # while a piece lands, no other can be dropped
                async with asyncio.timeout(LANDING_S):
                    bodies.append(await game.reward())
        assert (bodies[-1]["terminated"], bodies[-1]["info"]["reason"]) == (True, "game over")
        assert sum(body["reward"] for body in bodies) == game.remote.status()["last_episodes"][-1]["reward"] > 40
        await game.running()
        await eventually(lambda: game.reading("score") == 0)
        await game.changes()


@pytest.mark.parametrize("title", nightly_but(["Vitetris"], ["Vitetris", "MoonBuggy"]))
async def test_terminal_has_no_menus_even_for_a_person(title: str) -> None:
    async with playing(title) as game:
        connection: Any = open_display(game.remote.screen.display, game.remote.screen.xauthority)
        try:
            with await asyncio.to_thread(RfbClient, game.remote.screen.viewer_socket) as person:
                before = windows(connection)
                for button in (1, 2, 3):
                    person.key(XK.XK_Control_L, True)
                    person.pointer(300, 300, 1 << (button - 1))
                    await eventually(lambda button=button: pointer_mask(connection) == 1 << (7 + button))
                    assert windows(connection) == before
                    person.pointer(300, 300, 0)
                    person.key(XK.XK_Control_L, False)
                    await eventually(lambda: not pointer_mask(connection))
        finally:
            hang_up(connection)


def windows(connection: Any) -> int:
    """How many windows the screen shows."""
    children = connection.screen().root.query_tree().children
    return sum(child.get_attributes().map_state == X.IsViewable for child in children)


def pointer_mask(connection: Any) -> int:
    """The mouse buttons that are down, as X has them."""
    return connection.screen().root.query_pointer().mask & 0x1F00


def crater_is_near(game: Played) -> bool:
    """Whether there is no ground in front of the buggy."""
    lit = game.viewer.framebuffer[GROUND].max(axis=(0, 2)) > 100
    return any(not lit[column * 12 : column * 12 + 12].any() for column in NEAR)


@pytest.mark.nightly
async def test_each_crater_that_moon_buggy_jumps_over_pays() -> None:
    async with playing("MoonBuggy") as game:
        await eventually(lambda: game.reading("lives") == 3)
        deadline, jumped = time.monotonic() + 2 * DEADLINE_S, 0.0
        while game.remote.status()["episode_reward"] < 8 and time.monotonic() < deadline:
            await game.changes()
            if crater_is_near(game) and time.monotonic() - jumped > 0.4:
                jumped = time.monotonic()
                await game.press("space")
        assert game.remote.status()["episode_reward"] % 4 == 0
        assert (await game.reward())["reward"] == 4
