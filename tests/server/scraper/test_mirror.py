"""The screens of worlds on the remote's: what it shows, and what is pressed there."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pluriverse_protocol.events import KeyEvent, PointerEvent, ScreenEvent
from pluriverse_protocol.reports import Worlds
from pluriverse_server.display import Injector
from pluriverse_server.scraper.mirror import UNWATCHED_PICTURE_S, Screens
from pluriverse_server.sources.reading import Pixels
from pluriverse_server.x11 import pixels
from pluriverse_server.x11.framebuffer import FILE, framebuffer
from support.waiting import eventually
from support.xvfb import bare_xvfb

pytestmark = pytest.mark.display

WIDTH, HEIGHT = 120, 90
NO_COOKIE = Path("/nonexistent")
RIGHT = 0xFF53


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[tuple[str, Pixels]]:
    """The remote's display, and what is to be seen there."""
    with bare_xvfb(WIDTH, HEIGHT, "-fbdir", str(tmp_path)) as (name, _):
        yield name, framebuffer(tmp_path / FILE)


async def test_remotes_screen_shows_what_the_programs_shows_now(remote: tuple[str, Pixels]) -> None:
    display, shown = remote
    screen = np.random.default_rng(1).integers(0, 255, (HEIGHT, WIDTH, 4), np.uint8)
    screens = Screens(display, NO_COOKIE, lambda _: None)
    screens.put(0, screen)
    for _ in range(3):
        screen[...] = screen[::-1].copy()
        screens.touch(0)
        # The remote's cursor is in the middle.
        await eventually(lambda: np.array_equal(shown[:20, :, :3], screen[:20, :, :3]))
    screens.remove(0, screen)
    await eventually(lambda: not shown[:20, :, :3].any())


async def test_fewer_pictures_are_painted_where_nobody_looks_and_the_last_always_is(
    remote: tuple[str, Pixels], monkeypatch: pytest.MonkeyPatch
) -> None:
    display, shown = remote
    painted = list[int]()
    put = pixels.Pixels.put

    def count(*given: Any) -> Sequence[bytes]:
        painted.append(1)
        return put(*given)

    monkeypatch.setattr(pixels.Pixels, "put", count)
    screen = np.zeros((HEIGHT, WIDTH, 4), np.uint8)
    screens = Screens(display, NO_COOKIE, lambda _: None)
    screens.watched = False
    screens.put(0, screen)
    began = time.monotonic()
    for grey in range(1, 101):
        screen[...] = grey
        screens.touch(0)
        await asyncio.sleep(0.001)
    await eventually(lambda: shown[0, 0, 0] == 100)
    assert len(painted) <= 2 + (time.monotonic() - began) / UNWATCHED_PICTURE_S
    screens.remove(0, screen)


async def test_what_people_press_there_is_the_shown_worlds(remote: tuple[str, Pixels]) -> None:
    display, shown = remote
    own, other = (np.full((HEIGHT, WIDTH, 4), grey, np.uint8) for grey in (200, 90))
    said: list[Worlds] = []
    screens = Screens(display, NO_COOKIE, said.append)
    for slot, memory in enumerate((own, other)):
        screens.put(slot, memory)
    with contextlib.closing(Injector(display, NO_COOKIE)) as injector:
        await eventually(lambda: shown[0, 0, 0] == 200)
        injector.apply([PointerEvent(30, 40, 0), PointerEvent(30, 40, 4), PointerEvent(30, 40, 0)])
        await eventually(has_come(screens, 0, [PointerEvent(30, 40, 4), PointerEvent(30, 40, 0)]))
        injector.apply([KeyEvent(RIGHT, True)])
        await eventually(has_come(screens, 0, [KeyEvent(RIGHT, True)]))
        screens.show(1)
        await eventually(lambda: shown[0, 0, 0] == 90)
        injector.apply([KeyEvent(RIGHT, False), KeyEvent(RIGHT, True)])
        await eventually(has_come(screens, 1, [KeyEvent(RIGHT, True)]))
    # What was held is released in the world that isn't shown any more.
    assert screens.take(0) == [KeyEvent(RIGHT, False)]
    screens.remove(1, other)
    await eventually(lambda: shown[0, 0, 0] == 200)
    screens.remove(0, own)
    assert [(each.slots, each.shown) for each in said] == [((0,), 0), ((0, 1), 0), ((0, 1), 1), ((0,), 0), ((), 0)]


def has_come(screens: Screens, slot: int, events: Sequence[ScreenEvent]) -> Callable[[], bool]:
    pressed: list[ScreenEvent] = []

    def check() -> bool:
        pressed.extend(screens.take(slot))
        return pressed[-len(events) :] == events

    return check


def test_screens_on_a_display_that_is_gone_do_nothing() -> None:
    memory = np.zeros((HEIGHT, WIDTH, 4), np.uint8)
    screens = Screens(":4999", NO_COOKIE, lambda _: None)
    screens.put(0, memory)
    assert not screens.take(0)
    screens.remove(0, memory)
