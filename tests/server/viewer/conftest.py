"""A remote as the viewer sees it, its screen with a real VNC server, and a browser."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from pluriverse_server.gate.gate import Gate
from pluriverse_server.viewer.routes import NOVNC
from support.chromium import Chromium
from support.desktop import Desktop
from support.ports import free_port
from support.viewer_remote import Remote, serve_viewer


@pytest.fixture
async def remote(tmp_path: Path) -> AsyncGenerator[Remote]:
    """Serves the viewer; nothing answers at ``vnc_socket`` until a test puts something there."""
    async with serve_viewer(tmp_path / "vnc.sock") as served:
        yield served


@pytest.fixture
async def desktop(remote: Remote) -> AsyncGenerator[Desktop]:
    """A screen of 400 x 300 whose VNC server, without a password, is the remote's, behind its gate."""
    screen = await Desktop.start()
    gate = Gate(screen.vnc_socket, None)
    await gate.listen("127.0.0.1", free_port(), remote.vnc_socket, remote.watchers_socket)
    yield screen
    await gate.close()
    await screen.close()


@pytest.fixture
async def bare_desktop(remote: Remote) -> AsyncGenerator[Desktop]:
    """The same without a gate, for those who watch."""
    screen = await Desktop.start(vnc_socket=remote.watchers_socket)
    yield screen
    await screen.close()


@pytest.fixture
async def browser(tmp_path: Path) -> AsyncGenerator[Chromium]:
    """A browser that nobody used yet."""
    assert NOVNC.is_file(), "noVNC is not there yet; fetch it with: make assets"
    chromium = await Chromium.start(tmp_path)
    yield chromium
    await chromium.close()
