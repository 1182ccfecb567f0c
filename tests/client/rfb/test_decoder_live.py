"""Both decoders, and the handshake, before real servers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from pluriverse.rfb.errors import AuthenticationFailed
from pluriverse_server.access.secrets import Secrets
from pluriverse_server.display import Screen, make_screen
from support.rfb_streams import Viewer, screen_options

pytestmark = pytest.mark.display

PASSWORD = "open up"


@pytest.fixture
async def locked_screen(tmp_path: Path) -> AsyncGenerator[Screen]:
    """One that asks for PASSWORD."""
    shown = make_screen(screen_options(tmp_path, secrets=Secrets(PASSWORD)))
    await shown.start()
    yield shown
    await shown.stop()


@pytest.mark.parametrize("greeting", [None, b"RFB 003.007\n", b"RFB 003.003\n"])
async def test_every_version_lets_in_with_the_right_password_only(
    locked_screen: Screen, greeting: bytes | None
) -> None:
    port = locked_screen.options.vnc_port
    with Viewer(port, password=PASSWORD, greeting=greeting) as viewer:
        viewer.update(incremental=False)
    with pytest.raises(AuthenticationFailed, match="refuse"):
        Viewer(port, password="let me in", greeting=greeting)
    with pytest.raises(AuthenticationFailed, match="wants a password"):
        Viewer(port, greeting=greeting)
