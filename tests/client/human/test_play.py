"""A person plays a real remote on a desktop with a window manager; their hands are XTEST's."""

import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pluriverse.adapters.pictures import PictureOptions
from pluriverse.recording.demonstrations import Demonstration, demonstrations
from pluriverse.recording.recorded_screen import RecordedScreen
from pluriverse_protocol.events import Event, JoystickEvent, KeyEvent, RelativePointerEvent
from pluriverse_protocol.recordings import Input, Record, Said
from pluriverse_server.scraper.pads import LIBRARY, Pads
from pluriverse_server.scraper.pads import environment as pads_environment
from pluriverse_server.x11.connection import hang_up, open_display
from support.grabbing import GRABBING, shown
from support.remotes import MachineRemote, on_machine
from support.scraped import write_runtime
from support.waiting import until
from support.xvfb import xvfb
from Xlib import XK, X, Xatom, protocol
from Xlib.ext import xtest

DEADLINE_S = 60.0
LEFT, RIGHT = 0xFF51, 0xFF53
ENV, FPS = "gym-core.PongNoFrameskip-v3", 60

pytestmark = [
    pytest.mark.slow,
    pytest.mark.display,
    pytest.mark.skipif(
        shutil.which("openbox") is None or importlib.util.find_spec("pygame") is None,
        reason="openbox or pygame is not installed; tools/setup dev installs them",
    ),
]


@pytest.fixture(scope="module")
def remote() -> Generator[MachineRemote]:
    with on_machine("--env", ENV) as remote:
        yield remote


class Desktop:
    """A display with openbox, and the hands of who sits at it."""

    def __init__(self, name: str) -> None:
        self.display: Any = open_display(name, Path())
        self.root: Any = self.display.screen().root

    def window(self, title: str) -> Any:
        """Return the window with this in its title, once the window manager shows it."""
        return until(
            lambda: next(
                (each for each in self._managed() if title in str(each.get_full_text_property(Xatom.WM_NAME))), None
            )
        )

    def focus(self, window: Any) -> None:
        """Click on a window, at its middle, until it has the focus."""
        at = window.get_geometry()
        place = window.translate_coords(self.root, 0, 0)
        self.event(X.MotionNotify, 0, -place.x + at.width // 2, -place.y + at.height // 2)
        self.click(1)
        until(self._active, lambda active: active == window.id)

    def click(self, button: int) -> None:
        self.event(X.ButtonPress, button)
        self.event(X.ButtonRelease, button)

    def key(self, name: str, *, down: bool) -> None:
        code = self.display.keysym_to_keycode(XK.string_to_keysym(name))
        self.event(X.KeyPress if down else X.KeyRelease, code)

    def pointer_is_taken(self) -> bool:
        status = self.root.grab_pointer(False, 0, X.GrabModeAsync, X.GrabModeAsync, X.NONE, X.NONE, X.CurrentTime)
        self.display.ungrab_pointer(X.CurrentTime)
        self.display.sync()
        return status == X.AlreadyGrabbed

    def close(self, window: Any) -> None:
        """Close a window as its button does."""
        kind = self.display.intern_atom("_NET_CLOSE_WINDOW")
        asked = protocol.event.ClientMessage(window=window, client_type=kind, data=(32, [X.CurrentTime, 2, 0, 0, 0]))
        self.root.send_event(asked, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
        self.display.sync()

    def event(self, kind: int, detail: int, x: int = 0, y: int = 0) -> None:
        xtest.fake_input(self.display, kind, detail, x=x, y=y)
        self.display.sync()

    def _managed(self) -> list[Any]:
        listed = self.root.get_full_property(self.display.intern_atom("_NET_CLIENT_LIST"), X.AnyPropertyType)
        return [self.display.create_resource_object("window", each) for each in (listed.value if listed else ())]

    def _active(self) -> int:
        active = self.root.get_full_property(self.display.intern_atom("_NET_ACTIVE_WINDOW"), X.AnyPropertyType)
        return active.value[0] if active else 0


class Recorded:
    def __init__(self, path: Path) -> None:
        self._path = path

    def events(self) -> list[Event]:
        return [record.event for record in self._screen().records() if isinstance(record, Input)]

    def picture(self) -> NDArray[np.uint8]:
        """Return the last one."""
        screen = self._screen()
        for _ in screen.records():
            pass
        return screen.rgb()

    def _screen(self) -> RecordedScreen:
        return RecordedScreen(self._path.with_name(self._path.name + ".partial"))


@contextlib.contextmanager
def desktop() -> Generator[tuple[Desktop, dict[str, str]]]:
    with xvfb() as server:
        environment = {**os.environ, **server.environment}
        manager = subprocess.Popen(["openbox"], env=environment, stderr=subprocess.DEVNULL)
        there = Desktop(server.name)
        try:
            yield there, environment
        finally:
            hang_up(there.display)
            manager.terminate()
            manager.wait(60)


def hold(there: Desktop, window: Any, recorded: Recorded, name: str) -> None:
    """Hold a key until that is recorded, once the mouse is heard."""
    before, x = len(recorded.events()), 0

    def heard() -> bool:
        nonlocal x
        x = (x + 1) % 100
        place = window.translate_coords(there.root, 0, 0)
        there.event(X.MotionNotify, 0, 50 + x - place.x, 50 - place.y)
        return len(recorded.events()) > before

    until(heard)
    for down in (True, False):
        there.key(name, down=down)
        event = KeyEvent(XK.string_to_keysym(name), down)
        until(lambda: recorded.events()[before:], lambda events, event=event: event in events)


def keys(records: Iterable[Record]) -> list[tuple[int, bool]]:
    events = [record.event for record in records if isinstance(record, Input)]
    return [(event.keysym, event.down) for event in events if isinstance(event, KeyEvent)]


def episodes(recording: Path) -> Generator[Demonstration]:
    return demonstrations(RecordedScreen(recording), fps=None, options=PictureOptions(), kind=None)


@contextlib.contextmanager
def played(there: Desktop, environment: dict[str, str], *options: str) -> Generator[subprocess.Popen[str]]:
    """Play a remote on a desktop, until the end of the context; by then its window should have been closed."""
    player = subprocess.Popen(
        [sys.executable, "-m", "pluriverse.cli", "play", *options],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield player
        said, complained = player.communicate(timeout=DEADLINE_S)
        assert (player.returncode, complained) == (0, "")
        assert "recorded in" in said
    finally:
        player.kill()
        player.communicate()


@pytest.mark.parametrize("clock", ["realtime", "lockstep"])
def test_keys_go_to_the_remote_while_the_window_has_the_focus(
    remote: MachineRemote, tmp_path: Path, clock: str
) -> None:
    recording = tmp_path / "mine.plrec"
    options = ["-r", remote.address, "--clock", clock, "--record", str(recording)]
    with desktop() as (there, environment):
        other = subprocess.Popen(["xterm", "-title", "something else", "-geometry", "20x5-0-0"], env=environment)
        try:
            with played(there, environment, *options):
                elsewhere, window = there.window("something else"), there.window("played by a person")
                there.focus(window)
                hold(there, window, Recorded(recording), "Left")
                there.focus(elsewhere)
                there.key("q", down=True)
                there.key("q", down=False)
                there.focus(window)
                hold(there, window, Recorded(recording), "Right")
                there.close(window)
        finally:
            other.terminate()
            other.wait()
    records = list(RecordedScreen(recording).records())
    assert keys(records) == [(LEFT, True), (LEFT, False), (RIGHT, True), (RIGHT, False)]
    assert [record.said.get("event", "ready") for record in records if isinstance(record, Said)][:2] == [
        "begin",
        "ready",
    ]
    episode = next(episodes(recording))
    assert episode.env_id == ENV
    assert len({episode.actions[0], *episode.actions}) == 3
    assert any((one != episode.observations[0]).any() for one in episode.observations)


@pytest.fixture(scope="module")
def turning(tmp_path_factory: pytest.TempPathFactory) -> Generator[MachineRemote]:
    """A game that grabs the pointer, and has a gamepad."""
    folder = tmp_path_factory.mktemp("turning")
    command = ["python", "game.py", "libSDL2-2.0.so.0"]
    write_runtime(
        folder,
        program={"command": command, "clock": ["realtime", "lockstep"], "pads": 1},
        reset={"by": "restart", "start": []},
        rewards=[],
        spaces={"pointer": True, "relative": True, "buttons": 9},
    )
    (folder / "game.py").write_text(GRABBING)
    with on_machine(runtime=str(folder)) as remote:
        yield remote


@pytest.mark.parametrize("clock", ["realtime", "lockstep"])
def test_a_gamepad_a_grabbed_mouse_and_its_wheel_go_to_the_remote(
    turning: MachineRemote, tmp_path: Path, clock: str
) -> None:
    recording = tmp_path / "mine.plrec"
    written = Recorded(recording)
    (tmp_path / ".run").mkdir()
    plugged = {"LD_PRELOAD": str(LIBRARY), **pads_environment(tmp_path, 1)}
    with desktop() as (there, environment), contextlib.closing(Pads(tmp_path, 1)) as pads:

        def recorded() -> list[Event]:
            # A file is written when more comes.
            for down in (True, False):
                there.key("F1", down=down)
            pads.look(1.0)
            return [event for event in written.events() if not isinstance(event, KeyEvent)]

        options = ["-r", turning.address, "--clock", clock, "--record", str(recording)]
        with played(there, environment | plugged, *options):
            window = there.window("played by a person")
            there.focus(window)
            for value in (1.0, 0.0):
                events = [JoystickEvent(name, value) for name in ("JoystickAxisRxEvent", "JoystickButton6Event")]
                pads.look(1.0)
                pads.apply(events, 1.0)
                until(recorded, lambda heard, events=events: heard[-2:] == events)
            x, y, _ = shown(written.picture())
            # The click that gave the focus may have taken the mouse already.
            for down in (True, False):
                there.key("Escape", down=down)
            until(lambda: not there.pointer_is_taken())
            there.click(1)
            until(there.pointer_is_taken)
            there.event(X.MotionNotify, 1, 70, -9)
            there.click(4)
            there.event(X.ButtonPress, 9)
            moved = [RelativePointerEvent(*each) for each in ((70, -9, 0), (0, 0, 8), (0, 0, 0), (0, 0, 256))]
            until(recorded, lambda heard: heard[-4:] == moved)
            # To SDL the ninth button is the fifth, without a wheel.
            until(lambda: (recorded(), shown(written.picture()))[1], lambda seen: seen == (x + 70, y - 9, 16))
            there.close(window)
