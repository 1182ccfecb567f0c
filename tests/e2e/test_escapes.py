"""Agents press what an environment names and nothing else: forty ways out of a program, tried on both ways in."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest
from pluriverse_server.manifest.key_combinations import parse_combination
from pluriverse_server.remote.remote import Remote
from pluriverse_server.settings import Settings
from pluriverse_server.x11.connection import hang_up, open_display
from support.agent import Agent, connected
from support.input_devices import MODIFIERS
from support.nightly import nightly_but
from support.ports import free_port
from support.rfb import RfbClient
from support.served import PASSWORD
from support.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.browser]

RUNTIMES: Final = Path(__file__).parents[2] / "runtimes"
START_DEADLINE_S: Final = 90.0
PRESSED_S: Final = 5.0
PROBE: Final = 0xBEEF1

# A click has its button for a key. The menus of xterm and of GTK, the panels of browsers, the keys of window managers,
# terminals and file dialogs, and the wheel and the middle button, which zoom and paste.
ESCAPES: Final = (
    *("Control+Button1", "Control+Button2", "Control+Button3", "Button2", "Button3", "Shift+Button2", "Alt+Button2"),
    *("Control+Button4", "Control+Button5", "Alt+Button1", "Super+Button1"),
    *("Control+c", "Control+z", "Control+d", "Control+s", "Control+o", "Control+p", "Control+n", "Control+t"),
    *("Control+w", "Control+q", "Control+l", "Control+u", "Control+Shift+i", "Control+Alt+F1", "Control+Alt+BackSpace"),
    *("Alt+F4", "Alt+F10", "Alt+Tab", "Alt+Return", "Alt+space", "Super+r", "F1", "F10", "F11", "F12", "Print", "Menu"),
    *("Shift+F10", "Shift+Insert", "Shift+Prior", "Control+Escape"),
)
PLACE: Final = (60, 60)
BUTTON: Final = "Button"


GAMES: Final = (
    *("ChromiumBsu", "FrozenBubble", "Gnome2048", "HexAHop", "KoboDeluxe", "LTris", "Monsterz", "MoonBuggy"),
    *("Powermanga", "SlimeVolley", "Vitetris"),
)
PLAYED: Final = (
    *(("desktop", f"desktop.{game}-v0") for game in GAMES),
    *(("internet", "internet.2048-v0"), ("internet", "internet.Meteors-v0")),
    *(("world-of-bits", "wob.mini.EnterText-v0"), ("flashgames", "flashgames.Racer-v0")),
)

# A terminal, a page that takes the pointer, and one whose keys alone are named.
EACH_DAY: Final = (
    ("desktop", "desktop.Vitetris-v0"),
    ("internet", "internet.Meteors-v0"),
    ("flashgames", "flashgames.Racer-v0"),
)
Event = list[Any]


def events_of(escape: str) -> tuple[list[Event], list[Event]]:
    """The events that press it, and those that let go of it."""
    *names, key = escape.split("+")
    button = int(key.removeprefix(BUTTON)) if key.startswith(BUTTON) else 0
    keysym, modifiers = parse_combination("+".join((*names, "a" if button else key)))
    keys = [held for bit, held in MODIFIERS.items() if modifiers & bit] + ([] if button else [keysym])
    down: list[Event] = [["KeyEvent", each, True] for each in keys]
    up: list[Event] = [["KeyEvent", each, False] for each in reversed(keys)]
    if button:
        down.append(["PointerEvent", *PLACE, 1 << (button - 1)])
        up.insert(0, ["PointerEvent", *PLACE, 0])
    return down, up


class Screen:
    """What the X server of a remote says."""

    def __init__(self, remote: Remote) -> None:
        self.connection: Any = open_display(remote.screen.display, remote.screen.xauthority)
        self.probe: int = self.connection.keysym_to_keycode(PROBE)

    def held(self) -> set[int]:
        """The keysyms, without Shift, of the keys that are down."""
        down = bytes(self.connection.query_keymap())
        codes = [8 * index + bit for index, octet in enumerate(down) for bit in range(8) if octet >> bit & 1]
        return {self.connection.keycode_to_keysym(code, 0) for code in codes}

    def buttons(self) -> int:
        """The mouse buttons that are down, as X has them."""
        return self.connection.screen().root.query_pointer().mask >> 8

    def windows(self) -> list[tuple[int, int, int, int]]:
        """Where the windows on the screen are, menus included."""
        shown: list[tuple[int, int, int, int]] = []
        for window in self.connection.screen().root.query_tree().children:
            with contextlib.suppress(Exception):
                if window.get_attributes().map_state == 2:
                    place = window.get_geometry()
                    shown.append((place.x, place.y, place.width, place.height))
        return sorted(shown)


class Vnc:
    """The way in over VNC."""

    def __init__(self, client: RfbClient) -> None:
        self._client = client

    async def send(self, events: list[Event]) -> None:
        for kind, *values in events:
            (self._client.key if kind == "KeyEvent" else self._client.pointer)(*values)


class Actions:
    """The way in over the rewarder protocol."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    async def send(self, events: list[Event]) -> None:
        await self._agent.send("v0.agent.action", {"action": events})


@pytest.fixture(params=nightly_but(EACH_DAY, PLAYED), ids=[env_id for _, env_id in PLAYED])
async def played(request: pytest.FixtureRequest) -> AsyncIterator[tuple[Remote, Agent, RfbClient]]:
    runtime, env_id = request.param
    port, vnc_port = free_port(), free_port()
    settings = Settings(RUNTIMES / runtime, env_id, vnc_port=vnc_port, rewarder_port=port, password=PASSWORD)
    remote = Remote(settings)
    started = asyncio.Event()
    running = asyncio.create_task(remote.run(lambda _: started.set()))
    try:
        async with asyncio.timeout(START_DEADLINE_S):
            await started.wait()
        await eventually(lambda: remote.status()["env_state"] == "running", START_DEADLINE_S)
        async with connected(port, PASSWORD) as agent:
            with await asyncio.to_thread(RfbClient, "127.0.0.1", vnc_port, PASSWORD) as client:
                yield remote, agent, client
    finally:
        remote.stop()
        await asyncio.gather(running, return_exceptions=True)


@pytest.mark.timeout(300)
async def test_what_is_not_named_reaches_no_program(played: tuple[Remote, Agent, RfbClient]) -> None:
    remote, agent, client = played
    assert len(ESCAPES) >= 40
    description = (await agent.hear_method("v0.env.describe"))["body"]
    spaces = description["spaces"]
    choices = [key for choice in spaces.get("discrete", []) for key in choice["keys"]]
    named = {*spaces.get("keys", []), *choices, PROBE}
    screen = Screen(remote)
    try:
        windows = screen.windows()
        for way in (Vnc(client), Actions(agent)):
            for escape in ESCAPES:
                down, up = events_of(escape)
                # The probe is let through, and comes last. An episode that begins meanwhile lifts all keys.
                presses = [*down, ["KeyEvent", PROBE, True]]
                while PROBE not in screen.held():
                    await way.send(presses)
                    with contextlib.suppress(TimeoutError):
                        await eventually(lambda: PROBE in screen.held(), PRESSED_S)
                assert screen.held() <= named, escape
                assert not screen.buttons() or spaces.get("pointer"), escape
                await way.send([*up, ["KeyEvent", PROBE, False]])
                await eventually(lambda: not screen.held())
        assert screen.windows() == windows
    finally:
        hang_up(screen.connection)
