"""The games in a terminal: each is played in a whole remote, to its end where that comes soon."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pluriverse_server.x11.connection import hang_up, open_display
from support.free_games import playing
from support.nightly import nightly_but
from support.rfb import RfbClient
from support.waiting import eventually
from Xlib import XK, X

# What is waited for below, and for the start, may take longer together than a test may otherwise.
pytestmark = [pytest.mark.slow, pytest.mark.display, pytest.mark.timeout(360)]


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
