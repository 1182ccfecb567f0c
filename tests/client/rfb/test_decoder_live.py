"""Both decoders, and the handshake, before real servers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import numpy as np
import pytest
from pluriverse.rfb.decoder import Decoder
from pluriverse.rfb.errors import AuthenticationFailed
from pluriverse.rfb.events import EndOfContinuousUpdates
from pluriverse_protocol.rfb import messages
from pluriverse_protocol.rfb.numbers import Encoding
from pluriverse_protocol.rfb.preferences import preferred_encodings
from pluriverse_server.access.keyring import Keyring
from pluriverse_server.display import Screen, make_screen
from support.rfb_streams import HEIGHT, WIDTH, Viewer, easel, photo, screen_options, sprites, writing

pytestmark = pytest.mark.display

PASSWORD = "open up"


@pytest.fixture
async def locked_screen(tmp_path: Path) -> AsyncGenerator[Screen]:
    """One that asks for PASSWORD."""
    shown = make_screen(screen_options(tmp_path, keyring=Keyring(PASSWORD)))
    await shown.start()
    yield shown
    await shown.stop()


@pytest.mark.parametrize("encoding", ["raw", "hextile", "zrle", "tight"])
async def test_picture_is_the_one_that_was_drawn(screen: Screen, decoder_class: type[Decoder], encoding: str) -> None:
    wishes = preferred_encodings(encodings=[encoding])
    with easel(screen) as artist, Viewer(screen.options.vnc_port, encodings=wishes, decoder=decoder_class) as viewer:
        viewer.update(incremental=False)
        shown = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
        for picture in (sprites(WIDTH, HEIGHT, 5), photo(100, 90), writing(60, 130), sprites(99, 99, 6, colours=100)):
            shown[: picture.shape[0], : picture.shape[1]] = picture
            artist.draw(picture)
            viewer.update_until(lambda: np.array_equal(viewer.decoder.framebuffer, shown))


async def test_moved_picture_is_copied(tmp_path: Path, decoder_class: type[Decoder]) -> None:
    screen = make_screen(screen_options(tmp_path, backend="xvnc"))
    await screen.start()
    try:
        wishes = preferred_encodings(encodings=["copyrect", "tight"])
        with (
            easel(screen) as artist,
            Viewer(screen.options.vnc_port, encodings=wishes, decoder=decoder_class) as viewer,
        ):
            shown = photo(WIDTH, HEIGHT)
            artist.draw(shown)
            viewer.update(incremental=False)
            viewer.update_until(lambda: np.array_equal(viewer.decoder.framebuffer, shown))
            before = len(viewer.stream)
            shown[50:130, 60:150] = shown[40:120, 50:140].copy()
            artist.copy(50, 40, 90, 80, 60, 50)
            viewer.update_until(lambda: np.array_equal(viewer.decoder.framebuffer, shown))
            assert Encoding.COPYRECT.to_bytes(4, "big") in viewer.stream[before:]
            # What was moved are 21600 bytes of picture.
            assert len(viewer.stream) - before < 500
    finally:
        await screen.stop()


async def test_continuous_updates_come_without_being_asked_for(screen: Screen, decoder_class: type[Decoder]) -> None:
    wishes = preferred_encodings(encodings=["tight"])
    with easel(screen) as artist, Viewer(screen.options.vnc_port, encodings=wishes, decoder=decoder_class) as viewer:
        viewer.update(incremental=False)
        while EndOfContinuousUpdates() not in viewer.events:
            viewer.receive()
        viewer.send(messages.enable_continuous_updates(True, 0, 0, WIDTH, HEIGHT))
        for seed in range(3):
            picture = sprites(WIDTH, HEIGHT, seed)
            artist.draw(picture)
            while not np.array_equal(viewer.decoder.framebuffer, picture):
                viewer.receive()
        viewer.events.clear()
        viewer.send(messages.enable_continuous_updates(False, 0, 0, 0, 0))
        while EndOfContinuousUpdates() not in viewer.events:
            viewer.receive()


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
