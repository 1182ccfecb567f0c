"""What is on a real X server's screen, and its death. Servers of other kinds are those of screens and of spares."""

import contextlib
import os
import signal
from collections.abc import Generator
from pathlib import Path

import numpy as np
import pytest
from pluriverse_server.sources.reading import SourceError
from pluriverse_server.sources.screen import Grabber, ScreenLost
from pluriverse_server.x11.connection import open_display
from support.xvfb import bare_xvfb

pytestmark = pytest.mark.display

WIDTH, HEIGHT = 640, 480
ORANGE = [100, 50, 20, 10]
BLUE = [600, 470, 40, 10]


@pytest.fixture(scope="module")
def painted() -> Generator[str]:
    """A display with an orange rectangle, and a blue one in the corner."""
    with bare_xvfb(WIDTH, HEIGHT) as (display, _):
        paint(display, 0xFF8000, ORANGE)
        paint(display, 0x0000FF, BLUE)
        yield display


def paint(display: str, colour: int, place: list[int]) -> None:
    connection = open_display(display, Path(os.devnull))
    root = connection.screen().root
    root.fill_rectangle(root.create_gc(foreground=colour), *place)
    connection.sync()
    connection.display.socket.close()


def test_regions_hold_what_is_on_the_screen_blue_first(painted: str) -> None:
    with contextlib.closing(Grabber(painted, [ORANGE, [95, 45, 30, 20]])) as grabber:
        orange, around = grabber.grab()
    assert orange.shape == (10, 20, 4)
    assert orange.dtype == np.uint8
    assert (orange[..., :3] == (0, 0x80, 0xFF)).all()
    assert (around[5:15, 5:25] == orange).all()
    assert not around[:5, :, :3].any()


def test_regions_far_apart_and_at_the_edge_are_grabbed_one_by_one(painted: str) -> None:
    with contextlib.closing(Grabber(painted, [ORANGE, BLUE, [0, 0, 1, 1]])) as grabber:
        orange, blue, black = grabber.grab()
    assert (orange[..., :3] == (0, 0x80, 0xFF)).all()
    assert (blue[..., :3] == (0xFF, 0, 0)).all()
    assert not black[..., :3].any()


def test_part_of_a_region_can_be_grabbed_alone(painted: str) -> None:
    with contextlib.closing(Grabber(painted, [[0, 0, WIDTH, HEIGHT]])) as grabber:
        (screen,) = grabber.grab()
        part = grabber.grab_within((95, 45, 30, 20))
    assert (part == screen[45:65, 95:125]).all()


def test_what_was_grabbed_stays_as_it_was(painted: str) -> None:
    place = [300, 300, 20, 10]
    with contextlib.closing(Grabber(painted, [place])) as grabber:
        (before,) = grabber.grab()
        paint(painted, 0xFFFFFF, place)
        (after,) = grabber.grab()
    assert not before[..., :3].any()
    assert after[..., :3].all()


def test_a_region_beyond_the_screen_names_its_source_and_none_at_all_is_no_trouble(painted: str) -> None:
    with pytest.raises(SourceError, match=r"score: region \[600, 0, 41, 10\] isn't on the screen of 640x480"):
        Grabber(painted, [[0, 0, 10, 10], [600, 0, 41, 10]], ["lives", "score"])
    with contextlib.closing(Grabber(painted, [])) as grabber:
        assert grabber.grab() == []
        assert grabber.size == (WIDTH, HEIGHT)


def test_a_display_that_was_lost_or_never_was_is_told_by_name_and_closes_quietly() -> None:
    with bare_xvfb(WIDTH, HEIGHT) as (display, pid):
        grabber = Grabber(display, [[0, 0, 10, 10]])
        grabber.grab()
        os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ScreenLost):
            while True:
                grabber.grab()
        with pytest.raises(ScreenLost, match=display):
            grabber.grab()
        grabber.close()
        grabber.close()
    with pytest.raises(ScreenLost, match=":4444"):
        Grabber(":4444", [[0, 0, 10, 10]])
