from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace

import pytest
from pluriverse_server.access.secrets import Secrets
from pluriverse_server.display import Screen, ScreenOptions, make_screen
from support.ports import free_port
from support.xwindow import Window


@pytest.fixture
async def guarded_screen(options: ScreenOptions) -> AsyncIterator[Screen]:
    """A screen with the password ``password and more``, of which VNC looks at eight characters."""
    screen = make_screen(replace(options, secrets=Secrets("password and more")))
    await screen.start()
    yield screen
    await screen.stop()


@pytest.fixture
def open_window() -> Iterator[Callable[[Screen], Window]]:
    windows: list[Window] = []

    def open_on(screen: Screen) -> Window:
        windows.append(Window(screen.display, screen.xauthority))
        return windows[-1]

    yield open_on
    for window in windows:
        window.connection.display.socket.close()


@pytest.fixture
async def other_screen(options: ScreenOptions) -> AsyncIterator[Screen]:
    """A screen of the other backend."""
    runtime_dir = options.runtime_dir.parent / "other"
    screen = make_screen(replace(options, backend="xvnc", vnc_port=free_port(), runtime_dir=runtime_dir))
    await screen.start()
    yield screen
    await screen.stop()
