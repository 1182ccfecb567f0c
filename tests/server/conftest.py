"""A screen of each backend, for tests of what runs on one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pluriverse_server.display import Backend, Screen, ScreenOptions, make_screen
from support.ports import free_port


@pytest.fixture(name="free_port")
def _free_port() -> int:
    return free_port()


@pytest.fixture(params=["xvfb", "xvnc"])
def backend(request: pytest.FixtureRequest) -> Backend:
    return request.param


@pytest.fixture
def options(backend: Backend, free_port: int, tmp_path: Path) -> ScreenOptions:
    return ScreenOptions(
        width=320,
        height=240,
        vnc_port=free_port,
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
