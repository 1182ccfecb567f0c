"""Real X servers of three kinds, what is on their screens, and their death."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Generator
from pathlib import Path

import numpy as np
import pytest
from pluriverse_server.sources.reading import SourceError
from pluriverse_server.sources.screen import Grabber, ScreenLost
from pluriverse_server.x11.connection import open_display

pytestmark = pytest.mark.display

WIDTH, HEIGHT = 640, 480
SERVERS = {
    "Xvfb": ["Xvfb", "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-nolisten", "tcp"],
    "Xtigervnc": [
        *("Xtigervnc", "-geometry", f"{WIDTH}x{HEIGHT}", "-depth", "24"),
        *("-rfbport", "-1", "-rfbunixpath", "{folder}/rfb", "-SecurityTypes", "None"),
    ],
    "Xephyr": ["Xephyr", "-screen", f"{WIDTH}x{HEIGHT}", "-no-host-grab"],
}


@contextlib.contextmanager
def x_server(command: list[str], env: dict[str, str]) -> Generator[tuple[str, subprocess.Popen[bytes]]]:
    reads, writes = os.pipe()
    process = subprocess.Popen(
        [*command, "-noreset", "-displayfd", str(writes)], pass_fds=(writes,), stderr=subprocess.DEVNULL, env=env
    )
    os.close(writes)
    try:
        with os.fdopen(reads) as answer:
            number = answer.readline().strip()
        assert number, f"{command[0]} ended without a display"
        yield f":{number}", process
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(params=SERVERS)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[tuple[str, subprocess.Popen[bytes]]]:
    folder = tmp_path_factory.mktemp("x")
    command = [word.format(folder=folder) for word in SERVERS[request.param]]
    with contextlib.ExitStack() as stack:
        env = dict(os.environ)
        if request.param == "Xephyr":
            env["DISPLAY"], _ = stack.enter_context(x_server(SERVERS["Xvfb"], env))
        yield stack.enter_context(x_server(command, env))


@pytest.fixture
def painted(server: tuple[str, subprocess.Popen[bytes]]) -> str:
    """A display with an orange rectangle of 20x10 pixels at (100, 50), and a blue one at (600, 470), to the corner."""
    paint(server[0], 0xFF8000, 100, 50, 20, 10)
    paint(server[0], 0x0000FF, 600, 470, 40, 10)
    return server[0]


def paint(display: str, colour: int, *place: int) -> None:
    connection = open_display(display, Path(os.devnull))
    root = connection.screen().root
    root.fill_rectangle(root.create_gc(foreground=colour), *place)
    connection.sync()
    connection.display.socket.close()


def test_regions_hold_what_is_on_the_screen_blue_first(painted: str) -> None:
    with contextlib.closing(Grabber(painted, [[100, 50, 20, 10], [95, 45, 30, 20]])) as grabber:
        orange, around = grabber.grab()
    assert orange.shape == (10, 20, 4)
    assert orange.dtype == np.uint8
    assert (orange[..., :3] == (0, 0x80, 0xFF)).all()
    assert (around[5:15, 5:25] == orange).all()
    assert not around[:5, :, :3].any()


def test_regions_far_apart_and_at_the_edge_are_grabbed_one_by_one(painted: str) -> None:
    with contextlib.closing(Grabber(painted, [[100, 50, 20, 10], [600, 470, 40, 10], [0, 0, 1, 1]])) as grabber:
        orange, blue, black = grabber.grab()
    assert (orange[..., :3] == (0, 0x80, 0xFF)).all()
    assert (blue[..., :3] == (0xFF, 0, 0)).all()
    assert not black[..., :3].any()


def test_part_of_a_region_can_be_grabbed_alone(painted: str) -> None:
    with contextlib.closing(Grabber(painted, [[0, 0, 640, 480]])) as grabber:
        (screen,) = grabber.grab()
        part = grabber.grab_within((95, 45, 30, 20))
    assert (part == screen[45:65, 95:125]).all()


def test_what_was_grabbed_stays_as_it_was(painted: str) -> None:
    with contextlib.closing(Grabber(painted, [[100, 50, 20, 10]])) as grabber:
        (before,) = grabber.grab()
        paint(painted, 0, 100, 50, 20, 10)
        (after,) = grabber.grab()
    assert before[..., :3].any()
    assert not after[..., :3].any()


def test_a_lost_display_is_told_by_name_and_closes_quietly(server: tuple[str, subprocess.Popen[bytes]]) -> None:
    display, process = server
    grabber = Grabber(display, [[0, 0, 10, 10]])
    grabber.grab()
    process.terminate()
    process.wait()
    with pytest.raises(ScreenLost, match=display):
        grabber.grab()
    grabber.close()
    grabber.close()


def test_a_region_beyond_the_screen_names_its_source(server: tuple[str, subprocess.Popen[bytes]]) -> None:
    with pytest.raises(SourceError, match=r"score: region \[600, 0, 41, 10\] isn't on the screen of 640x480"):
        Grabber(server[0], [[0, 0, 10, 10], [600, 0, 41, 10]], ["lives", "score"])


def test_no_regions_are_grabbed_from_a_screen_whose_size_is_known(server: tuple[str, subprocess.Popen[bytes]]) -> None:
    with contextlib.closing(Grabber(server[0], [])) as grabber:
        assert grabber.grab() == []
        assert grabber.size == (WIDTH, HEIGHT)


def test_a_display_that_never_was_is_lost() -> None:
    with pytest.raises(ScreenLost, match=":4444"):
        Grabber(":4444", [[0, 0, 10, 10]])
