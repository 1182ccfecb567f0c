from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from pluriverse_server.display import Backend, Screen, ScreenOptions, make_screen
from support.ports import free_port
from support.xwindow import Window


@pytest.fixture
def backend() -> Backend:
    """The one whose X and VNC servers are two; tests that differ by the backend name both."""
    return "xvfb"


@pytest.fixture
def options(backend: Backend, tmp_path: Path) -> ScreenOptions:
    return ScreenOptions(
        width=320,
        height=240,
        vnc_port=free_port(),
        vnc_host="127.0.0.1",
        secrets=None,
        backend=backend,
        runtime_dir=tmp_path / "runtime",
        name="a test",
    )


@pytest.fixture
async def screen(options: ScreenOptions) -> AsyncIterator[Screen]:
    screen = make_screen(options)
    await screen.start()
    yield screen
    await screen.stop()


@pytest.fixture
def window(screen: Screen) -> Iterator[Window]:
    with Window(screen.display, screen.xauthority) as window:
        yield window
