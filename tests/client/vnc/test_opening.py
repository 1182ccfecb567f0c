"""The way in: handmade servers that won't have it, and TigerVNC with TLS."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from pluriverse.rfb.errors import AuthenticationFailed, BadHandshake, NoCommonSecurity
from pluriverse.tls import fingerprint
from pluriverse.vnc import TlsOptions, VncOptions, connect, wait_for_frames
from pluriverse.vnc.options import Implementation
from pluriverse_protocol.events import KeyEvent
from support.certificates import signed
from support.ports import free_port
from support.vnc_servers import Peer, one_colour, server
from support.waiting import eventually

pytestmark = pytest.mark.usefixtures("nothing_left")

PASSWORD = "open-pw"
DEADLINE_S = 60.0


@contextlib.contextmanager
def xtigervnc(folder: Path, *security: str) -> Generator[int]:
    """TigerVNC's own X server with these options; its port."""
    made = subprocess.run(["tigervncpasswd", "-f"], input=PASSWORD.encode(), capture_output=True, check=True)
    (folder / "password").write_bytes(made.stdout)
    port = free_port()
    command = ["Xtigervnc", "-displayfd", "1", "-geometry", "320x200", "-depth", "24", "-rfbport", str(port)]
    command += ["-localhost", "-nolisten", "tcp", "-PasswordFile", str(folder / "password"), *security]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert process.stdout is not None
        assert process.stdout.readline().strip(), "Xtigervnc ended without a display"
        yield port
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def check_works(port: int, options: VncOptions) -> None:
    """Connect, see a frame, send a key, close."""
    connection = connect("localhost", port, PASSWORD, options=options)
    assert wait_for_frames([connection], DEADLINE_S) == [0], connection.error
    frame = connection.frame()
    assert frame is not None
    assert frame.array.shape == (200, 320, 3)
    connection.send_events([KeyEvent(0x61, True), KeyEvent(0x61, False)])
    connection.close()
    assert connection.error is None


def test_anonymous_tls_works(implementation: Implementation, tmp_path: Path) -> None:
    with xtigervnc(tmp_path, "-SecurityTypes", "TLSVnc") as port:
        check_works(port, VncOptions(implementation=implementation))
        check_works(port, VncOptions(implementation=implementation, tls=TlsOptions(required=True, check=False)))


def test_a_certificate_is_checked(implementation: Implementation, tmp_path: Path) -> None:
    certificate, key = signed(tmp_path, "localhost")
    files = ["-X509Key", str(key), "-X509Cert", str(certificate)]
    with xtigervnc(tmp_path, "-SecurityTypes", "X509Vnc", *files) as port:
        check_works(port, VncOptions(implementation=implementation, tls=TlsOptions(required=True, ca_file=certificate)))
        check_works(port, VncOptions(implementation=implementation, tls=TlsOptions(check=False)))
        with pytest.raises(ssl.SSLCertVerificationError):
            connect("localhost", port, PASSWORD, options=VncOptions(implementation=implementation))
        pinned = fingerprint(ssl.PEM_cert_to_DER_cert(certificate.read_text()))
        check_works(port, VncOptions(implementation=implementation, tls=TlsOptions(True, fingerprint=pinned)))
        with pytest.raises(ssl.SSLCertVerificationError, match=f"fingerprint is {pinned}, expected {'0' * 64}"):
            connect("localhost", port, PASSWORD, options=VncOptions(tls=TlsOptions(True, fingerprint="0" * 64)))


def test_anonymous_tls_is_refused_where_it_should_be_checked(tmp_path: Path) -> None:
    with (
        xtigervnc(tmp_path, "-SecurityTypes", "TLSVnc") as port,
        pytest.raises(NoCommonSecurity, match="no certificate"),
    ):
        connect("localhost", port, PASSWORD, options=VncOptions(tls=TlsOptions(required=True)))


def test_a_wrong_password_is_told(tmp_path: Path) -> None:
    with xtigervnc(tmp_path, "-SecurityTypes", "VncAuth") as port:
        with pytest.raises(AuthenticationFailed):
            connect("127.0.0.1", port, "wrong")
        with pytest.raises(AuthenticationFailed, match="password"):
            connect("127.0.0.1", port)


async def test_a_tls_server_that_dies_is_an_error(implementation: Implementation, tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        port = stack.enter_context(xtigervnc(tmp_path, "-SecurityTypes", "TLSVnc"))
        options = VncOptions(implementation=implementation)
        connection = await asyncio.to_thread(connect, "localhost", port, PASSWORD, options=options)
        await eventually(lambda: connection.fresh)
        stack.close()
        await eventually(lambda: connection.error)
        assert isinstance(connection.error, ConnectionError)
        connection.close()


def test_nobody_listening_is_told() -> None:
    with pytest.raises(ConnectionRefusedError):
        connect("127.0.0.1", free_port())


def test_a_server_that_says_nothing_costs_no_more_than_the_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        before = time.monotonic()
        with pytest.raises(TimeoutError):
            connect("127.0.0.1", listener.getsockname()[1], timeout_s=0.2)
        assert time.monotonic() - before < DEADLINE_S


def test_what_is_no_vnc_server_is_told() -> None:
    def greet(listener: socket.socket) -> None:
        accepted, _ = listener.accept()
        with accepted:
            accepted.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        greeting = threading.Thread(target=greet, args=(listener,))
        greeting.start()
        with pytest.raises(BadHandshake):
            connect("127.0.0.1", listener.getsockname()[1])
        greeting.join()


def test_what_comes_with_the_end_of_the_handshake_is_not_lost(implementation: Implementation) -> None:
    def script(peer: Peer) -> None:
        # The first update is on its way before it is asked for, right behind ServerInit.
        peer.send(one_colour(64, 64, 50))
        peer.wait_for_request()
        while True:
            peer.message()

    with server(script) as port:
        connection = connect("127.0.0.1", port, options=VncOptions(implementation=implementation))
        assert wait_for_frames([connection], DEADLINE_S) == [0]
        frame = connection.frame()
        assert frame is not None
        assert (frame.array == 50).all()
        connection.close()
