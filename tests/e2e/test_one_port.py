"""A remote by its one port, and with TLS: agents, TigerVNC's viewer, and a browser."""

import asyncio
import base64
import hashlib
import socket
import ssl
import time
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from pluriverse import make
from pluriverse.adapters.gymnasium import PluriverseEnv
from pluriverse.env.connections import open_screen
from pluriverse.errors import RemoteUnavailable
from pluriverse.ping import examine
from pluriverse.remotes import Address, parse_addresses
from pluriverse.remotes.health import is_silent, wait_until_ready
from pluriverse.tls import TlsOptions
from pluriverse.vnc import VncOptions, wait_for_frames
from pluriverse.vnc.options import Implementation
from support.certificates import signed
from support.chromium import Chromium
from support.relay import Relay, beside, relaying_by
from support.remotes import MachineRemote, on_machine
from support.waiting import DEADLINE_S

pytestmark = pytest.mark.browser

PONG = "gym-core.PongDeterministic-v3"


@pytest.fixture(scope="module")
def remote() -> Generator[MachineRemote]:
    with on_machine("--tls") as remote:
        yield remote


def of(remote: MachineRemote) -> Address:
    (address,) = parse_addresses(remote.one_port)
    return address


@pytest.mark.parametrize("implementation", ["native", "python"])
def test_screen_is_seen_by_the_one_port(remote: MachineRemote, implementation: Implementation) -> None:
    screen = open_screen(of(remote), None, VncOptions(implementation=implementation))
    try:
        seen: set[bytes] = set()
        deadline = time.monotonic() + DEADLINE_S
        while len(seen) < 10:
            assert time.monotonic() < deadline, screen.error
            assert wait_for_frames([screen], DEADLINE_S), screen.error
            frame = screen.frame()
            assert frame is not None
            assert frame.array.shape == (768, 1024, 3)
            seen.add(frame.array[:210, :160].tobytes())
    finally:
        screen.close()
    assert screen.error is None


def test_other_certificate_is_refused_before_the_password_is_sent(remote: MachineRemote) -> None:
    pinned = "ab" * 32
    shown = of(remote).tls
    assert shown is not None
    address = replace(of(remote), tls=TlsOptions(fingerprint=pinned))
    with pytest.raises(RemoteUnavailable, match=f"fingerprint is {shown.fingerprint}, expected {pinned}"):
        open_screen(address, None, VncOptions())
    assert is_silent(address)
    with pytest.raises(RemoteUnavailable, match=f"fingerprint is {shown.fingerprint}, expected {pinned}"):
        make(PONG, f"pluriverses://127.0.0.1:{remote.port}/?fingerprint={pinned}&password=x")
    with pytest.raises(RemoteUnavailable, match="self-signed"):
        make(PONG, f"pluriverses://127.0.0.1:{remote.port}/?password=x")


def test_nothing_is_taken_in_the_clear(remote: MachineRemote) -> None:
    with pytest.raises(RemoteUnavailable):
        make(PONG, f"pluriverse://127.0.0.1:{remote.port}/?password=x")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", remote.vnc_port), DEADLINE_S)


def test_certificate_of_ones_own_is_checked_by_its_authority(tmp_path: Path) -> None:
    certificate, key = signed(tmp_path, "localhost")
    with on_machine("--tls-cert", str(certificate), "--tls-key", str(key)) as remote:
        assert "fingerprint=" not in remote.one_port
        url = f"pluriverses://localhost:{remote.port}/?ca={certificate}&password={remote.password}"
        assert any("1024x768" in line for line in examine(parse_addresses(url)[0], 1))


async def test_viewer_page_works_by_https(remote: MachineRemote, tmp_path: Path) -> None:
    certificate = x509.load_pem_x509_certificate(ssl.get_server_certificate(("127.0.0.1", remote.port)).encode())
    key = certificate.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    pin = base64.b64encode(hashlib.sha256(key).digest()).decode()
    browser = await Chromium.start(tmp_path, flags=[f"--ignore-certificate-errors-spki-list={pin}"])
    try:
        await browser.open(f"https://127.0.0.1:{remote.port}/viewer/?password={remote.password}")
        await browser.wait_until("document.getElementById('link').dataset.link === 'live'")
        await browser.wait_until("document.querySelector('.surface:not([data-gone]) canvas')?.width === 1024")
        assert browser.errors == []
    finally:
        await browser.close()


# -- Behind a reverse proxy --------------------------------------------------------------------------------------------

NOTHING = (
    b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 21\r\n"
    b"Connection: close\r\n\r\nthere is nothing here"
)


class Proxy(Relay):
    """Carries one request a connection. ``paths`` are those that it was asked for, with the prefix."""

    def __init__(self, target: int, prefix: str) -> None:
        super().__init__(target)
        self.prefix = prefix
        self.paths: list[str] = []

    async def begin(self, near: asyncio.StreamReader, back: asyncio.StreamWriter, far: asyncio.StreamWriter) -> None:
        """Hand on the head of a request without the prefix, or answer that there is nothing there."""
        first, *lines = (await near.readuntil(b"\r\n\r\n")).decode("latin-1").splitlines(keepends=True)
        method, path, version = first.split(" ")
        self.paths.append(path.partition("?")[0])
        if not path.startswith(f"{self.prefix}/"):
            back.write(NOTHING)
            back.close()
            far.close()
            return
        if not any(line.lower().startswith("upgrade:") for line in lines):
            lines = ["Connection: close\r\n", *(line for line in lines if not line.lower().startswith("connection:"))]
        far.write(f"{method} {path.removeprefix(self.prefix)} {version}{''.join(lines)}".encode("latin-1"))


@pytest.fixture(scope="module")
def proxied() -> Generator[tuple[Proxy, str]]:
    """A proxy before a remote without TLS, and the remote's address there."""
    with on_machine() as remote, beside(relaying_by(lambda: Proxy(remote.port, "/some/prefix"))) as (proxy,):
        yield proxy, f"pluriverse://localhost:{proxy.port}/some/prefix?password={remote.password}"


def test_game_is_played_in_lockstep_behind_a_prefix(proxied: tuple[Proxy, str]) -> None:
    proxy, url = proxied
    with PluriverseEnv(PONG, remotes=url, clock="lockstep", size=(84, 84)) as env:
        env.reset(seed=3)
        pictures = {env.step(2)[0].tobytes() for _ in range(20)}
        assert len(pictures) > 10
    assert {"/some/prefix/", "/some/prefix/step"} <= set(proxy.paths)


def test_refusals_come_through_in_words_behind_a_prefix(proxied: tuple[Proxy, str]) -> None:
    _, url = proxied
    (address,) = parse_addresses(url)
    with pytest.raises(RemoteUnavailable, match="the password is missing or wrong"):
        open_screen(replace(address, password="wrong"), None, VncOptions())
    with pytest.raises(RemoteUnavailable, match="there is nothing here"):
        open_screen(replace(address, path="/other/prefix/"), None, VncOptions())


def test_health_and_ping_follow_the_prefix(proxied: tuple[Proxy, str]) -> None:
    proxy, url = proxied
    (address,) = parse_addresses(url)
    wait_until_ready(address, DEADLINE_S, lambda: None)
    assert not is_silent(address)
    assert any("1024x768" in line for line in examine(address, 2))
    assert {"/some/prefix/healthz", "/some/prefix/readyz", "/some/prefix/vnc"} <= set(proxy.paths)
