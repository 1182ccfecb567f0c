import asyncio
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pluriverse.vnc import VncConnection, VncOptions, connect
from pluriverse.vnc.options import Implementation
from pluriverse_protocol.events import BUTTONS, PointerEvent
from pluriverse_server.access.secrets import Secrets
from pluriverse_server.display import Screen, ScreenOptions, make_screen
from pluriverse_server.x11.connection import hang_up, open_display
from support.pictures import Picture, sprites
from support.ports import free_port
from support.waiting import eventually
from support.xwindow import CLICKS, Window
from Xlib import X

pytestmark = pytest.mark.display

PASSWORD = "live-pw"
WIDTH, HEIGHT = 192, 144


@pytest.fixture
async def screen(tmp_path: Path) -> AsyncGenerator[Screen]:
    place = (WIDTH, HEIGHT, free_port(), "127.0.0.1")
    shown = make_screen(ScreenOptions(*place, Secrets(PASSWORD), "xvnc", tmp_path / "screen", "drawn on"))
    await shown.start()
    yield shown
    await shown.stop()


@pytest.fixture
async def open_screen(screen: Screen, implementation: Implementation) -> AsyncGenerator[Callable[..., Any]]:
    """Connects to the screen with the implementation under test; closes at the end."""
    opened: list[VncConnection] = []

    async def make(**options: Any) -> VncConnection:
        wanted = VncOptions(implementation=implementation, **options)
        port = screen.options.vnc_port
        opened.append(await asyncio.to_thread(connect, "127.0.0.1", port, PASSWORD, options=wanted))
        return opened[-1]

    yield make
    for connection in opened:
        await asyncio.to_thread(connection.close)


def shows(connection: VncConnection, matches: Callable[[Picture], bool]) -> Callable[[], bool]:
    """Whether its latest frame does."""

    def look() -> bool:
        assert connection.error is None, connection.error
        frame = connection.frame()
        return frame is not None and matches(frame.array)

    return look


async def test_frames_become_what_is_drawn(screen: Screen, open_screen: Callable[..., Any]) -> None:
    connection = await open_screen(quality=None)
    display: Any = open_display(screen.display, screen.xauthority)
    root = display.screen().root
    for seed in range(5):
        picture = sprites(WIDTH, HEIGHT, seed)
        pixels = np.insert(picture[..., ::-1], 3, 0, axis=2)
        root.put_image(root.create_gc(), 0, 0, WIDTH, HEIGHT, X.ZPixmap, 24, 0, pixels.tobytes())
        display.sync()
        await eventually(shows(connection, lambda array, wanted=picture: np.array_equal(array, wanted)))
    hang_up(display)


async def test_each_of_nine_buttons_goes_down_and_up(screen: Screen, open_screen: Callable[..., Any]) -> None:
    connection = await open_screen()
    await eventually(lambda: connection.frame() is not None)
    with Window(screen.display, screen.xauthority) as window:
        for button in range(BUTTONS):
            connection.send_events([PointerEvent(40, 50, 1 << button), PointerEvent(40, 50, 0)])
        assert [await asyncio.to_thread(window.clicked) for _ in CLICKS] == CLICKS
    assert connection.error is None
