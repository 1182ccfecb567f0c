"""A program's own screen on the remote's: what it shows, and what is pressed there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pluriverse_protocol.events import KeyEvent, PointerEvent
from pluriverse_server.display import Injector
from pluriverse_server.scraper.mirror import Mirror
from pluriverse_server.sources.reading import Pixels
from pluriverse_server.x11.framebuffer import FILE, framebuffer
from support.waiting import eventually
from support.xvfb import bare_xvfb

pytestmark = pytest.mark.display

WIDTH, HEIGHT = 120, 90
NO_COOKIE = Path("/nonexistent")


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[tuple[str, Pixels]]:
    """The remote's display, and what is to be seen there."""
    with bare_xvfb(WIDTH, HEIGHT, "-fbdir", str(tmp_path)) as (name, _):
        yield name, framebuffer(tmp_path / FILE)


async def test_remotes_screen_shows_what_the_programs_shows_now(remote: tuple[str, Pixels]) -> None:
    display, shown = remote
    screen = np.random.default_rng(1).integers(0, 255, (HEIGHT, WIDTH, 4), np.uint8)
    with contextlib.closing(Mirror(display, NO_COOKIE, screen)) as mirror:
        for _ in range(3):
            screen[...] = screen[::-1].copy()
            mirror.touch()
            # The remote's cursor is in the middle.
            await eventually(lambda: np.array_equal(shown[:20, :, :3], screen[:20, :, :3]))
    await eventually(lambda: not shown[:20, :, :3].any())


async def test_what_people_press_there_is_the_programs(remote: tuple[str, Pixels]) -> None:
    display, shown = remote
    screen = np.full((HEIGHT, WIDTH, 4), 200, np.uint8)
    pressed: list[KeyEvent | PointerEvent] = []

    def has_come(*events: KeyEvent | PointerEvent) -> bool:
        pressed.extend(mirror.take())
        return pressed[-len(events) :] == list(events)

    with contextlib.ExitStack() as stack:
        mirror = stack.enter_context(contextlib.closing(Mirror(display, NO_COOKIE, screen)))
        await eventually(lambda: shown[0, 0, 0] == 200)
        injector = stack.enter_context(contextlib.closing(Injector(display, NO_COOKIE)))
        injector.apply([PointerEvent(30, 40, 0), PointerEvent(30, 40, 4), PointerEvent(30, 40, 0)])
        await eventually(lambda: has_come(PointerEvent(30, 40, 4), PointerEvent(30, 40, 0)))
        injector.apply([KeyEvent(0xFF53, True), KeyEvent(0xFF53, False)])
        await eventually(lambda: has_come(KeyEvent(0xFF53, True), KeyEvent(0xFF53, False)))


def test_mirror_of_a_screen_that_is_gone_does_nothing() -> None:
    mirror = Mirror(":4999", NO_COOKIE, np.zeros((HEIGHT, WIDTH, 4), np.uint8))
    mirror.touch()
    assert not mirror.take()
    mirror.close()
