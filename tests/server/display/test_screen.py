import asyncio
import contextlib
import os
import shutil
import signal
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pluriverse_server.access.secrets import Secrets
from pluriverse_server.display import DisplayLost, Restarted, Screen, ScreenOptions, make_screen
from pluriverse_server.display.xserver import TMP
from pluriverse_server.process import StartError
from pluriverse_server.x11 import framebuffer
from pluriverse_server.x11.connection import SOCKETS, open_display, write_cookie
from support.rfb import RfbClient
from support.xwindow import Window

pytestmark = pytest.mark.display

RED = (255, 0, 0)
GREEN = (0, 255, 0)
PROGRAMS = ("Xvfb", "X0tigervnc", "Xtigervnc", "setpriv", "xkbcomp", "sh")


BOTH = pytest.mark.parametrize("backend", ["xvfb", "xvnc"])


def viewer(screen: Screen, password: str | None = None, *, shared: bool = True) -> RfbClient:
    return RfbClient("127.0.0.1", screen.options.vnc_port, password, shared=shared)


def command_line(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()


def x_socket(display: str) -> Path:
    return SOCKETS / f"X{display.removeprefix(':')}"


def programs_in(folder: Path, *, without: str = "") -> str:
    """A PATH with the programs that a screen needs, but one."""
    folder.mkdir()
    for name in PROGRAMS:
        found = shutil.which(name)
        assert found is not None
        if name != without:
            (folder / name).symlink_to(found)
    return str(folder)


def assert_nothing_left(options: ScreenOptions, display: str, pids: list[int]) -> None:
    number = display.removeprefix(":")
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]
    with contextlib.suppress(FileNotFoundError):
        assert int((TMP / f".X{number}-lock").read_text()) not in pids
    with contextlib.suppress(FileNotFoundError), socket.socket(socket.AF_UNIX) as client:
        # Another test's server may have taken the number meanwhile; it listens.
        client.connect(str(x_socket(display)))
    assert list(options.runtime_dir.iterdir()) == []
    with contextlib.suppress(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", options.vnc_port)).close()
        pytest.fail("somebody still listens on the VNC port")


@BOTH
async def test_nobody_gets_in_by_tcp_or_without_the_cookie(screen: Screen, tmp_path: Path) -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", 6000 + int(screen.display.removeprefix(":"))))
    write_cookie(tmp_path / "another cookie")
    for cookie in ("no such file", "another cookie"):
        with pytest.raises(DisplayLost):
            open_display(screen.display, tmp_path / cookie)
    open_display(screen.display, screen.xauthority).close()


async def test_cookie_and_sockets_are_for_this_user_only(guarded_screen: Screen) -> None:
    folder = guarded_screen.options.runtime_dir
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "Xauthority").stat().st_mode & 0o777 == 0o600
    # Xvfb keeps its pixels in a file, which nobody else reaches.
    files = {file.name for file in folder.iterdir()} - {framebuffer.FILE}
    assert files == {"Xauthority", "vnc.sock", "viewer.sock", "watchers.sock"}
    assert not [pid for pid in guarded_screen.pids.values() if "password and" in command_line(pid)]


@BOTH
async def test_two_viewers_see_the_same_pixel_even_if_one_asked_for_the_desktop_alone(
    screen: Screen, window: Window
) -> None:
    with viewer(screen) as first, viewer(screen, shared=False) as second:
        assert (first.width, first.height, first.name) == (320, 240, "a test")
        window.fill(10, 20, 30, 30, RED)
        first.wait_for_pixel(15, 25, RED)
        second.wait_for_pixel(15, 25, RED)
        window.fill(10, 20, 30, 30, GREEN)
        first.wait_for_pixel(15, 25, GREEN)
        second.wait_for_pixel(15, 25, GREEN)


async def test_killed_vnc_server_is_replaced_while_the_program_goes_on(screen: Screen, window: Window) -> None:
    display, pids = screen.display, screen.pids
    os.kill(pids["VNC server"], signal.SIGKILL)
    death = await asyncio.wait_for(screen.wait_for_exit(), 60)
    assert (death.name, death.how) == ("VNC server", "killed by SIGKILL")
    assert await screen.restart_dead() is Restarted.VNC_SERVER
    assert (screen.display, screen.pids["X server"]) == (display, pids["X server"])
    window.fill(0, 0, 50, 50, RED)
    with viewer(screen) as client:
        client.wait_for_pixel(5, 5, RED)
        client.press(0xBEEF1)
        assert window.typed() == 0xBEEF1


@BOTH
async def test_killed_x_server_is_named_and_replaced_on_the_same_vnc_port(
    screen: Screen, open_window: Callable[[Screen], Window]
) -> None:
    before = screen.pids
    os.kill(before["X server"], signal.SIGKILL)
    # Not the VNC server, which ends with it.
    death = await asyncio.wait_for(screen.wait_for_exit(), 60)
    assert (death.name, death.how) == ("X server", "killed by SIGKILL")
    assert await screen.restart_dead() is Restarted.EVERYTHING
    after = screen.pids
    assert not set(before.values()) & set(after.values())
    assert await screen.restart_dead() is Restarted.NOTHING
    assert screen.pids == after
    window = open_window(screen)
    window.fill(0, 0, 50, 50, GREEN)
    with viewer(screen) as client:
        client.wait_for_pixel(5, 5, GREEN)
        client.press(0xBEEF2)
        assert window.typed() == 0xBEEF2


@BOTH
async def test_death_comes_with_last_words(screen: Screen) -> None:
    viewer(screen).close()
    os.kill(screen.pids["VNC server" if "VNC server" in screen.pids else "X server"], signal.SIGABRT)
    death = await asyncio.wait_for(screen.wait_for_exit(), 60)
    assert "pixel format" in death.output_tail


async def test_heal_that_fails_leaves_nothing_behind(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    display, pids = screen.display, screen.pids
    monkeypatch.setenv("PATH", "/nonexistent")
    os.kill(pids["X server"], signal.SIGKILL)
    await asyncio.wait_for(screen.wait_for_exit(), 60)
    with pytest.raises(StartError):
        await screen.restart_dead()
    assert_nothing_left(screen.options, display, list(pids.values()))


@BOTH
@pytest.mark.parametrize("signum", [None, signal.SIGKILL, signal.SIGSTOP], ids=["alive", "killed", "frozen"])
async def test_stop_leaves_no_process_lock_socket_or_file(guarded_screen: Screen, signum: signal.Signals) -> None:
    display, pids = guarded_screen.display, list(guarded_screen.pids.values())
    assert x_socket(display).exists()
    for pid in pids if signum else ():
        # The VNC server may have ended by itself after the X server.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signum)
    await guarded_screen.stop()
    assert_nothing_left(guarded_screen.options, display, pids)
    await guarded_screen.stop()


async def test_screen_that_was_not_started_can_be_stopped_and_says_that_it_has_no_display(
    options: ScreenOptions,
) -> None:
    screen = make_screen(options)
    await screen.stop()
    with pytest.raises(RuntimeError):
        _ = screen.environment
    with pytest.raises(RuntimeError):
        await screen.wait_for_exit()


@BOTH
async def test_start_that_is_cancelled_leaves_nothing_behind(options: ScreenOptions) -> None:
    screen = make_screen(options)
    starting = asyncio.create_task(screen.start())
    while not screen.pids:  # noqa: ASYNC110 - a screen that is starting tells nobody how far it is
        await asyncio.sleep(0)
    display, pids = screen.display, list(screen.pids.values())
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert_nothing_left(options, display, pids)


@pytest.mark.parametrize(
    ("backend", "program", "package"),
    [
        ("xvfb", "Xvfb", "xvfb"),
        ("xvfb", "X0tigervnc", "tigervnc-scraping-server"),
        ("xvnc", "Xtigervnc", "tigervnc-standalone-server"),
    ],
)
async def test_missing_program_names_its_package(
    options: ScreenOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, package: str
) -> None:
    options = replace(options, secrets=Secrets("secret"))
    monkeypatch.setenv("PATH", programs_in(tmp_path / "bin", without=program))
    screen = make_screen(options)
    with pytest.raises(StartError, match=f"apt-get install {package}"):
        await screen.start()
    assert list(options.runtime_dir.iterdir()) == []
    assert screen.pids == {}


@pytest.mark.parametrize("wrong", [{"width": 0}, {"height": 40000}])
def test_options_that_no_server_takes_are_refused(options: ScreenOptions, wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="pixels"):
        replace(options, **wrong)  # pyright: ignore[reportArgumentType]
