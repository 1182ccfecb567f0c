"""Both decoders, and the handshake, before real servers."""

from __future__ import annotations

import datetime as dt
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

import numpy as np
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from pluriverse.rfb.decoder import Decoder, Region
from pluriverse.rfb.errors import AuthenticationFailed, NoCommonSecurity
from pluriverse.rfb.events import EndOfContinuousUpdates
from pluriverse_protocol.rfb import messages
from pluriverse_protocol.rfb.numbers import Encoding
from pluriverse_protocol.rfb.preferences import preferred_encodings
from pluriverse_server.access.keyring import Keyring
from pluriverse_server.display import Screen, make_screen
from pluriverse_server.process import ChildProcess
from support.rfb_streams import HEIGHT, WIDTH, Viewer, easel, looks_like, photo, screen_options, sprites, writing
from support.tigervnc import wait_for_greeting, write_password_file

PASSWORD = "open up"

StartServer = Callable[..., Awaitable[int]]


@pytest.fixture
async def locked_screen(tmp_path: Path) -> AsyncGenerator[Screen]:
    """One that asks for PASSWORD."""
    shown = make_screen(screen_options(tmp_path, keyring=Keyring(PASSWORD)))
    await shown.start()
    yield shown
    await shown.stop()


@pytest.fixture
async def start_server(screen: Screen, tmp_path: Path) -> AsyncGenerator[StartServer]:
    """Starts another VNC server for the screen, with its own security, and says at which port."""
    servers: list[ChildProcess] = []

    async def start(*arguments: str) -> int:
        port = screen_options(tmp_path).vnc_port
        command = ["X0tigervnc", f"-display={screen.display}", f"-rfbport={port}", "-localhost=1", *arguments]
        servers.append(await ChildProcess.start("VNC server", command, env=screen.environment, network=True))
        await wait_for_greeting(port)
        return port

    yield start
    for server in servers:
        await server.stop()


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


@pytest.mark.parametrize(
    "wishes",
    [{"quality": 9}, {"fine_quality": 95}, {"fine_quality": 95, "subsampling": "4:2:2"}, {"quality": 8}],
)
async def test_lossy_picture_looks_like_the_one_that_was_drawn(
    screen: Screen, decoder_class: type[Decoder], wishes: dict[str, int]
) -> None:
    encodings = preferred_encodings(**wishes)  # pyright: ignore[reportArgumentType] - one dictionary of several kinds
    with (
        easel(screen) as artist,
        Viewer(screen.options.vnc_port, encodings=encodings, decoder=decoder_class) as viewer,
    ):
        picture = photo(WIDTH, HEIGHT)
        artist.draw(picture)
        viewer.update(incremental=False)
        viewer.update_until(lambda: looks_like(viewer.decoder.framebuffer, picture))


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


async def test_regions_follow_what_is_drawn(screen: Screen, decoder_class: type[Decoder]) -> None:
    regions = [Region(0, 0, 40, 30), Region(150, 100, 42, 44)]
    wishes = preferred_encodings(fine_quality=95)
    with (
        easel(screen) as artist,
        Viewer(screen.options.vnc_port, encodings=wishes, decoder=decoder_class, regions=regions) as viewer,
    ):
        picture = photo(WIDTH, HEIGHT)
        artist.draw(picture)
        viewer.update(incremental=False)
        x, y, width, height = regions[1]
        area = np.s_[y : y + height, x : x + width]
        viewer.update_until(lambda: looks_like(viewer.decoder.framebuffer[area], picture[area]))


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
async def test_every_version_lets_in_without_a_password(screen: Screen, greeting: bytes | None) -> None:
    with Viewer(screen.options.vnc_port, greeting=greeting) as viewer:
        assert (viewer.desktop.width, viewer.desktop.height) == (WIDTH, HEIGHT)
        assert "recorded" in viewer.desktop.name
        assert viewer.handshake.version == ((3, int(greeting[8:11])) if greeting else (3, 8))
        viewer.update(incremental=False)


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
    with pytest.raises(NoCommonSecurity, match="VNC"):
        Viewer(port, password=PASSWORD, tls=ssl.create_default_context())


async def test_anonymous_tls_carries_the_password_and_the_picture(
    screen: Screen, start_server: StartServer, tmp_path: Path
) -> None:
    passwords = tmp_path / "passwd"
    write_password_file(passwords, PASSWORD)
    port = await start_server("-SecurityTypes=TLSVnc", f"-PasswordFile={passwords}")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    # Anonymous Diffie-Hellman ended with TLS 1.2.
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("aNULL:@SECLEVEL=0")
    await _require_picture(screen, port, context)
    with pytest.raises(AuthenticationFailed):
        Viewer(port, password="let me in", tls=context)


async def test_tls_with_a_certificate_is_checked(screen: Screen, start_server: StartServer, tmp_path: Path) -> None:
    passwords, certificate, key = tmp_path / "passwd", tmp_path / "cert.pem", tmp_path / "key.pem"
    write_password_file(passwords, PASSWORD)
    _write_certificate(certificate, key)
    port = await start_server(
        "-SecurityTypes=X509Vnc", f"-PasswordFile={passwords}", f"-X509Cert={certificate}", f"-X509Key={key}"
    )
    trusting = ssl.create_default_context(cafile=str(certificate))
    trusting.check_hostname = False
    await _require_picture(screen, port, trusting)
    strict = ssl.create_default_context()
    strict.check_hostname = False
    with pytest.raises(ssl.SSLCertVerificationError):
        Viewer(port, password=PASSWORD, tls=strict)


async def _require_picture(screen: Screen, port: int, context: ssl.SSLContext) -> None:
    wishes = preferred_encodings()
    with easel(screen) as artist, Viewer(port, password=PASSWORD, encodings=wishes, tls=context) as viewer:
        picture = sprites(WIDTH, HEIGHT, 9)
        artist.draw(picture)
        viewer.update(incremental=False)
        viewer.update_until(lambda: np.array_equal(viewer.decoder.framebuffer, picture))


def _write_certificate(certificate: Path, key: Path) -> None:
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "screen")])
    now = dt.datetime.now(dt.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(private, hashes.SHA256())
    )
    certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    pem, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    key.write_bytes(private.private_bytes(serialization.Encoding.PEM, pem, plain))
