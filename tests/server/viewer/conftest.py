"""A remote as the viewer sees it, its screen with a real VNC server, and a browser; all on the loop of their module."""

from collections.abc import AsyncGenerator
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from pluriverse_server.viewer.web_app import NOVNC
from pluriverse_server.vnc_proxy.vnc_proxy import VncProxy
from support.chromium import Chromium
from support.desktop import Desktop
from support.ports import free_port
from support.viewer_remote import Remote, serve_viewer


@pytest_asyncio.fixture(loop_scope="module")
async def remote(tmp_path: Path) -> AsyncGenerator[Remote]:
    """Serves the viewer; nothing answers at ``vnc_socket`` until a test puts something there."""
    async with serve_viewer(tmp_path / "vnc.sock") as served:
        yield served


@pytest_asyncio.fixture(loop_scope="module")
async def session() -> AsyncGenerator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as client:
        yield client


@pytest_asyncio.fixture(loop_scope="module")
async def desktop(remote: Remote) -> AsyncGenerator[Desktop]:
    """A screen of 400 x 300 whose VNC server, without a password, is the remote's, behind its VNC proxy."""
    screen = await Desktop.start()
    vnc_proxy = VncProxy(screen.vnc_socket, None)
    await vnc_proxy.listen("127.0.0.1", free_port(), remote.vnc_socket, remote.watchers_socket)
    yield screen
    await vnc_proxy.close()
    await screen.close()


@pytest_asyncio.fixture(loop_scope="module")
async def bare_desktop(remote: Remote) -> AsyncGenerator[Desktop]:
    """The same without a VNC proxy, for those who watch."""
    screen = await Desktop.start(vnc_socket=remote.watchers_socket)
    yield screen
    await screen.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Chromium]:
    assert NOVNC.is_file(), "noVNC is not there yet; fetch it with: make assets"
    chromium = await Chromium.start(tmp_path_factory.mktemp("browser"))
    yield chromium
    await chromium.close()


@pytest_asyncio.fixture(loop_scope="module")
async def browser(chromium: Chromium) -> AsyncGenerator[Chromium]:
    """The module's browser, which knows nothing of the remote that the test has: each is of another origin."""
    chromium.errors.clear()
    await chromium.resize()
    yield chromium
    await chromium.open("about:blank")
