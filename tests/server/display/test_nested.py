import asyncio
import os
import signal
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest
from pluriverse_protocol.events import KeyEvent, PointerEvent
from pluriverse_server.display import DisplayLost, Injector, Screen
from pluriverse_server.display.nested import NestedScreen
from pluriverse_server.display.nested_window import OVERLAY_TITLE, TITLE
from pluriverse_server.process import StartError
from pluriverse_server.remote.overlay import start_overlay
from pluriverse_server.x11.connection import open_display
from support.rfb import RfbClient
from support.waiting import eventually
from support.xwindow import Window
from Xlib import XK, X

pytestmark = pytest.mark.display

RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)
ALPHA = 0x010003B1

_T = TypeVar("_T")


@asynccontextmanager
async def started(screen: Screen, folder: Path) -> AsyncGenerator[NestedScreen]:
    nested = await NestedScreen.start(screen.environment, 320, 240, folder=folder)
    try:
        yield nested
    finally:
        await nested.stop()


@pytest.fixture
async def nested(screen: Screen, tmp_path: Path) -> AsyncIterator[NestedScreen]:
    async with started(screen, tmp_path) as nested:
        yield nested


@pytest.fixture
async def spare(screen: Screen, tmp_path: Path) -> AsyncIterator[NestedScreen]:
    async with started(screen, tmp_path) as spare:
        yield spare


async def away(wait: Callable[..., _T], *arguments: object) -> _T:
    """Wait on a thread: the nested screen needs the event loop."""
    return await asyncio.to_thread(wait, *arguments)


def window_on(environment: Mapping[str, str]) -> Window:
    return Window(environment["DISPLAY"], Path(environment["XAUTHORITY"]))


@pytest.fixture
def inside(nested: NestedScreen) -> Iterator[Window]:
    with window_on(nested.environment) as window:
        yield window


@pytest.fixture
def inside_spare(spare: NestedScreen) -> Iterator[Window]:
    with window_on(spare.environment) as window:
        yield window


@pytest.fixture
def viewer(screen: Screen) -> Iterator[RfbClient]:
    with RfbClient("127.0.0.1", screen.options.vnc_port, None) as viewer:
        yield viewer


@pytest.mark.parametrize("backend", ["xvfb", "xvnc"])
async def test_hidden_screen_shows_nothing_of_itself_and_all_of_itself_when_it_is_shown(
    window: Window, nested: NestedScreen, inside: Window, viewer: RfbClient
) -> None:
    window.fill(0, 0, 320, 240, BLUE)
    inside.fill(0, 0, 320, 240, RED)
    with viewer:
        viewer.wait_for_pixel(5, 5, BLUE)
        # A screen that is shown already stays.
        for _ in range(2):
            await nested.show()
        for corner in ((0, 0), (319, 0), (0, 239), (319, 239)):
            viewer.wait_for_pixel(*corner, RED)
        inside.fill(10, 20, 30, 30, GREEN)
        viewer.wait_for_pixel(15, 25, GREEN)


async def test_two_screens_are_swapped_and_the_hidden_one_goes_on_drawing(
    nested: NestedScreen, spare: NestedScreen, inside: Window, inside_spare: Window, viewer: RfbClient
) -> None:
    with viewer:
        await nested.show()
        for _ in range(2):
            inside.fill(0, 0, 320, 240, RED)
            viewer.wait_for_pixel(5, 5, RED)
            inside_spare.fill(0, 0, 320, 240, GREEN)
            await spare.show()
            viewer.wait_for_pixel(5, 5, GREEN)
            inside.fill(0, 0, 320, 240, BLUE)
            await nested.show()
            viewer.wait_for_pixel(5, 5, BLUE)


@pytest.mark.parametrize("backend", ["xvfb", "xvnc"])
async def test_keys_and_the_pointer_over_vnc_arrive_inside(
    nested: NestedScreen, inside: Window, viewer: RfbClient
) -> None:
    await nested.show()
    with viewer:
        for held in (XK.XK_Shift_L, XK.XK_Control_L):
            viewer.key(held, True)
        viewer.press(XK.XK_A)
        for held in (XK.XK_Control_L, XK.XK_Shift_L):
            viewer.key(held, False)
        assert (await away(inside.event, X.KeyPress)).state == 0
        assert (await away(inside.event, X.KeyPress)).state == X.ShiftMask
        letter = await away(inside.event, X.KeyPress)
        assert letter.state == X.ShiftMask | X.ControlMask
        assert inside.connection.keycode_to_keysym(letter.detail, 1) == XK.XK_A
        await away(inside.wait_for_held, 0)
        for x, y, button in ((30, 40, 1), (319, 239, 4)):
            viewer.pointer(x, y, 0)
            viewer.pointer(x, y, 1 << button - 1)
            press = await away(inside.event, X.ButtonPress)
            assert (press.detail, press.root_x, press.root_y) == (button, x, y)


async def test_hidden_screen_gets_no_keys_and_no_pointer_but_through_its_own_display(
    nested: NestedScreen, spare: NestedScreen, inside: Window, inside_spare: Window, viewer: RfbClient
) -> None:
    await spare.show()
    await nested.show()
    with viewer:
        viewer.pointer(70, 80)
        viewer.press(XK.XK_a)
        assert await away(inside.typed) == XK.XK_a
    injector = Injector(spare.environment["DISPLAY"], spare.xauthority)
    injector.apply([KeyEvent(XK.XK_b, True), KeyEvent(XK.XK_b, False), PointerEvent(7, 8, 0)])
    assert await away(inside_spare.typed) == XK.XK_b
    await away(inside_spare.wait_for_pointer, 7, 8)
    injector.close()


async def test_what_is_held_goes_up_in_the_old_screen_and_down_in_the_new(
    nested: NestedScreen, spare: NestedScreen, inside: Window, inside_spare: Window, viewer: RfbClient
) -> None:
    await nested.show()
    with viewer:
        viewer.pointer(50, 60)
        viewer.pointer(50, 60, 1)
        viewer.key(XK.XK_Control_L, True)
        viewer.key(XK.XK_Up, True)
        held = await away(inside.wait_for_held, 2)
        await away(inside.event, X.ButtonPress)

        await spare.show()
        await away(inside.wait_for_held, 0)
        await away(inside.event, X.ButtonRelease)
        assert await away(inside_spare.wait_for_held, 2) == held
        press = await away(inside_spare.event, X.ButtonPress)
        assert (press.root_x, press.root_y) == (50, 60)

        viewer.key(XK.XK_Up, False)
        viewer.key(XK.XK_Control_L, False)
        viewer.pointer(51, 61, 0)
        await away(inside_spare.wait_for_held, 0)
        await away(inside_spare.event, X.ButtonRelease)
        await away(inside_spare.wait_for_pointer, 51, 61)
        viewer.press(XK.XK_a)
        key = await away(inside_spare.event, X.KeyPress)
    assert key.state == 0


async def test_held_key_repeats_inside_without_being_let_go(
    nested: NestedScreen, inside: Window, viewer: RfbClient
) -> None:
    await nested.show()
    with viewer:
        viewer.key(XK.XK_a, True)
        await away(inside.wait_for_held, 1)
        for _ in range(4):
            await away(inside.event, X.KeyPress)
            assert len(inside.held()) == 1
        viewer.key(XK.XK_a, False)
        await away(inside.wait_for_held, 0)


async def test_key_that_the_map_gets_later_is_known_inside(
    screen: Screen, nested: NestedScreen, inside: Window
) -> None:
    await nested.show()
    injector = Injector(screen.display, screen.xauthority)
    injector.apply([KeyEvent(ALPHA, True), KeyEvent(ALPHA, False)])
    keycode = (await away(inside.event, X.KeyPress)).detail
    await eventually(lambda: inside.connection.get_keyboard_mapping(keycode, 1)[0][0] == ALPHA)
    injector.close()


async def test_overlay_stays_above(
    screen: Screen, nested: NestedScreen, spare: NestedScreen, inside: Window, inside_spare: Window
) -> None:
    overlay = await start_overlay(["--block", "0", "0"], screen.environment)
    outside = open_display(screen.display, screen.xauthority)
    try:
        for one in (nested, spare, nested):
            await one.show()
            windows = outside.screen().root.query_tree().children
            assert [window.get_wm_name() for window in windows][-2:] == [TITLE, OVERLAY_TITLE]
    finally:
        outside.close()
        await overlay.stop()


async def test_death_of_the_outer_server_ends_the_inner_one(screen: Screen, nested: NestedScreen) -> None:
    os.kill(screen.pids["X server"], signal.SIGKILL)
    await asyncio.wait_for(nested.wait_for_exit(), 60)
    with pytest.raises(DisplayLost):
        await nested.show()


async def test_windows_of_others_may_come_and_go_meanwhile(
    screen: Screen, nested: NestedScreen, spare: NestedScreen
) -> None:
    stopped = threading.Event()

    def come_and_go() -> None:
        connection = open_display(screen.display, screen.xauthority)
        root = connection.screen().root
        while not stopped.is_set():
            windows = [root.create_window(0, 0, 9, 9, 0, X.CopyFromParent) for _ in range(20)]
            connection.sync()
            for window in windows:
                window.destroy()
            connection.sync()
        connection.close()

    coming = asyncio.create_task(asyncio.to_thread(come_and_go))
    try:
        for _ in range(20):
            await nested.show()
            await spare.show()
    finally:
        stopped.set()
        await coming


@pytest.mark.parametrize("ending", ["killed", "stopped"])
async def test_screen_that_is_gone_gives_way_to_the_next(
    ending: str, nested: NestedScreen, spare: NestedScreen, inside_spare: Window, viewer: RfbClient
) -> None:
    await nested.show()
    if ending == "killed":
        os.kill(nested.child.pid, signal.SIGKILL)
        death = await asyncio.wait_for(nested.wait_for_exit(), 60)
        assert (death.name, death.how) == ("nested X server", "killed by SIGKILL")
    await nested.stop()
    await nested.stop()
    assert not nested.xauthority.exists()
    with pytest.raises(DisplayLost, match="closed"):
        await nested.show()
    await spare.show()
    inside_spare.fill(0, 0, 320, 240, GREEN)
    with viewer:
        viewer.wait_for_pixel(5, 5, GREEN)
        viewer.press(XK.XK_a)
    assert await away(inside_spare.typed) == XK.XK_a


async def test_missing_outer_screen_is_told(tmp_path: Path) -> None:
    environment = {"DISPLAY": ":54321", "XAUTHORITY": str(tmp_path / "none")}
    with pytest.raises(DisplayLost):
        await NestedScreen.start(environment, 320, 240, folder=tmp_path)


async def test_missing_program_names_its_package(
    screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(StartError, match="xserver-xephyr"):
        await NestedScreen.start(screen.environment, 320, 240, folder=tmp_path)
