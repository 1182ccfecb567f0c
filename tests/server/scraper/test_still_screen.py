import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pluriverse_server.scraper.still_screen import StillScreen
from pluriverse_server.x11.connection import hang_up, open_display
from pluriverse_server.x11.framebuffer import FILE, framebuffer
from support.waiting import eventually
from support.xvfb import bare_xvfb

pytestmark = pytest.mark.display

WIDTH, HEIGHT = 120, 90


def test_no_more_than_the_rows_that_differ_are_looked_at_and_none_if_none_may(tmp_path: Path) -> None:
    with bare_xvfb(WIDTH, HEIGHT) as (name, _):
        memory = np.zeros((HEIGHT, WIDTH, 4), np.uint8)
        with contextlib.closing(StillScreen(name, tmp_path / "none", (0, 0, WIDTH, HEIGHT), None, memory)) as still:
            still.see()
            memory[50, 7] = 1, 2, 3, 0
            assert not still.see()[1]
            still.may_differ = True
            pixels, changes = still.see()
            assert changes == [(50, 1)]
            assert tuple(pixels[50, 7]) == (3, 2, 1)


@pytest.fixture
def painted(tmp_path: Path) -> Iterator[str]:
    """The name of a display all of which is a window of one colour, with a cursor in its middle."""
    with bare_xvfb(WIDTH, HEIGHT, "-fbdir", str(tmp_path)) as (name, _):
        connection: Any = open_display(name)
        screen = connection.screen()
        font = connection.open_font("cursor")
        cursor = font.create_glyph_cursor(font, 2, 3, (65535, 65535, 65535), (0, 0, 0))
        window = screen.root.create_window(
            0, 0, WIDTH, HEIGHT, 0, screen.root_depth, background_pixel=0x010203, cursor=cursor
        )
        window.map()
        connection.sync()
        yield name
        hang_up(connection)


async def test_pixels_are_the_same_by_request_and_from_the_screens_memory_without_the_cursor(
    painted: str, tmp_path: Path
) -> None:
    memory = framebuffer(tmp_path / FILE)
    box, hidden = (10, 20, 100, 60), (0, 20, 40, 8)
    seen: list[Any] = []
    for looked_at in (None, memory):
        with contextlib.closing(StillScreen(painted, tmp_path / "none", box, hidden, looked_at)) as still:
            seen.append(still.see()[0].copy())
    assert np.array_equal(*seen)
    assert not seen[0][:8, :30].any()
    assert (seen[0][8:] == (1, 2, 3)).all()

    def cursor_shows() -> bool:
        return bool((memory[..., :3] != (3, 2, 1)).any())

    # It is drawn again once nobody looks.
    await eventually(cursor_shows)
