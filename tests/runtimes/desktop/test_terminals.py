"""The games in a terminal: no key and no click leads out of them."""

import asyncio
import contextlib
from typing import Any, Final

import pytest
from pluriverse_server.manifest.key_combinations import parse_combination
from pluriverse_server.x11.connection import hang_up, open_display
from support.free_games import Played, playing
from support.input_devices import MODIFIERS
from support.nightly import nightly_but
from support.rfb import RfbClient
from support.waiting import eventually
from Xlib import XK, X

# What is waited for below, and for the start, may take longer together than a test may otherwise.
pytestmark = [pytest.mark.slow, pytest.mark.display, pytest.mark.timeout(360)]

PROBE: Final = 0xBEEF1
PRESSED_S: Final = 5.0

# A click has its button for a key: the menus of xterm and of GTK, the wheel, keys of window managers, and a lone one.
ESCAPES: Final = ("Control+Button1", "Button3", "Control+Button4", "Control+Alt+F1", "Super+r", "Menu")
PLACE: Final = (60, 60)

Event = list[Any]


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
    children = connection.screen().root.query_tree().children
    return sum(child.get_attributes().map_state == X.IsViewable for child in children)


def pointer_mask(connection: Any) -> int:
    """The mouse buttons that are down, as X has them."""
    return connection.screen().root.query_pointer().mask & 0x1F00


def events_of(escape: str) -> tuple[list[Event], list[Event]]:
    """The events that press it, and those that let go of it."""
    *names, key = escape.split("+")
    button = int(key.removeprefix("Button")) if key.startswith("Button") else 0
    keysym, modifiers = parse_combination("+".join((*names, "a" if button else key)))
    keys = [held for bit, held in MODIFIERS.items() if modifiers & bit] + ([] if button else [keysym])
    down: list[Event] = [["KeyEvent", each, True] for each in keys]
    up: list[Event] = [["KeyEvent", each, False] for each in reversed(keys)]
    if button:
        down.append(["PointerEvent", *PLACE, 1 << (button - 1)])
        up.insert(0, ["PointerEvent", *PLACE, 0])
    return down, up


async def send(game: Played, way: str, events: list[Event]) -> None:
    if way == "rewarder":
        await game.agent.send("v0.agent.action", {"action": events})
        return
    for kind, *values in events:
        (game.viewer.key if kind == "KeyEvent" else game.viewer.pointer)(*values)


@pytest.mark.parametrize("way", ["vnc", "rewarder"])
async def test_what_the_environment_does_not_name_reaches_no_program(way: str) -> None:
    async with playing("Vitetris") as game:
        described = next(said for said in reversed(game.agent.heard) if said["method"] == "v0.env.describe")
        spaces = described["body"]["spaces"]
        named = {*spaces["keys"], *(key for choice in spaces["discrete"] for key in choice["keys"]), PROBE}
        connection: Any = open_display(game.remote.screen.display, game.remote.screen.xauthority)
        try:
            before = windows(connection)
            for escape in ESCAPES:
                down, up = events_of(escape)
                # The probe is let through, and comes last. An episode that begins meanwhile lifts all keys.
                while PROBE not in held(connection):
                    await send(game, way, [*down, ["KeyEvent", PROBE, True]])
                    with contextlib.suppress(TimeoutError):
                        await eventually(lambda: PROBE in held(connection), PRESSED_S)
                assert held(connection) <= named, escape
                assert not pointer_mask(connection), escape
                await send(game, way, [*up, ["KeyEvent", PROBE, False]])
                await eventually(lambda: not held(connection))
            assert windows(connection) == before
        finally:
            hang_up(connection)


def held(connection: Any) -> set[int]:
    """The keysyms, without Shift, of the keys that are down."""
    down = bytes(connection.query_keymap())
    codes = [8 * index + bit for index, octet in enumerate(down) for bit in range(8) if octet >> bit & 1]
    return {connection.keycode_to_keysym(code, 0) for code in codes}
