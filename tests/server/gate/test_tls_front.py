from __future__ import annotations

import asyncio
import contextlib
import http.client
import os
import socket
import ssl
import threading
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass, field
from functools import cache

import pytest
from pluriverse_server.certificate import Certificate
from pluriverse_server.gate import tls_front
from pluriverse_server.gate.pump import BUFFER_BYTES
from pluriverse_server.gate.tls_front import PlainEnd, TlsFront
from pluriverse_server.process import listeners
from support.waiting import DEADLINE_S, eventually

# More than all the buffers between two sockets of this machine hold.
MORE_THAN_BUFFERS = 96 * 2**20
LARGE = bytes(range(256)) * (64 * BUFFER_BYTES // 256)


@cache
def certificate() -> Certificate:
    return Certificate.made(())


@cache
def trusting() -> ssl.SSLContext:
    """A client's settings, which trust whoever they meet."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


@dataclass
class Port:
    """A port with TLS, and the plain ends of the connections that it has handed on."""

    front: TlsFront
    number: int
    delivered: list[socket.socket] = field(default_factory=list[socket.socket])

    def knock(self) -> socket.socket:
        """Connect, without a word."""
        return socket.create_connection(("127.0.0.1", self.number), DEADLINE_S)

    def connect(self) -> ssl.SSLSocket:
        """Connect, and shake hands."""
        return trusting().wrap_socket(self.knock(), suppress_ragged_eofs=False)

    async def joined(self) -> tuple[ssl.SSLSocket, socket.socket]:
        """A client, and the plain end of its connection."""
        before = len(self.delivered)
        client = await asyncio.to_thread(self.connect)
        await eventually(lambda: len(self.delivered) > before)
        plain = self.delivered[-1]
        plain.settimeout(DEADLINE_S)
        return client, plain


@contextlib.asynccontextmanager
async def serving() -> AsyncGenerator[Port]:
    front = TlsFront(certificate())
    (listener,) = listeners("127.0.0.1", 0)
    port = Port(front, listener.getsockname()[1])
    await front.serve(listener, port.delivered.append)
    try:
        yield port
    finally:
        await front.close()
        for plain in port.delivered:
            plain.close()


@pytest.fixture
async def port() -> AsyncGenerator[Port]:
    async with serving() as served:
        yield served


def received(source: socket.socket, size: int) -> bytes:
    """So many bytes, or all up to the end."""
    data = bytearray()
    while len(data) < size and (more := source.recv(65536)):
        data += more
    return bytes(data)


@contextlib.contextmanager
def sending(target: socket.socket, data: bytes) -> Generator[None]:
    """Send meanwhile."""
    thread = threading.Thread(target=target.sendall, args=(data,))
    thread.start()
    yield
    thread.join()


async def test_bytes_go_both_ways(port: Port) -> None:
    client, plain = await port.joined()
    with client:
        for sender, receiver in ((client, plain), (plain, client)):
            sender.sendall(b"hello")
            assert await asyncio.to_thread(received, receiver, 5) == b"hello"


async def test_all_of_it_arrives_in_order_whichever_side_sends_a_lot(port: Port) -> None:
    client, plain = await port.joined()
    with client:
        for sender, receiver in ((client, plain), (plain, client)):
            with sending(sender, LARGE):
                assert await asyncio.to_thread(received, receiver, len(LARGE)) == LARGE


def speak_at_once(raw: socket.socket, data: bytes) -> None:
    """Shake hands, and send the end of that in one packet with ``data``."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = trusting().wrap_bio(incoming, outgoing)
    while True:
        try:
            tls.do_handshake()
        except ssl.SSLWantReadError:
            raw.sendall(outgoing.read())
            if not incoming.write(raw.recv(65536)):
                raise ConnectionError("it hung up") from None
        else:
            break
    tls.write(data)
    raw.sendall(outgoing.read())


async def test_what_comes_right_behind_the_handshake_is_not_lost(port: Port) -> None:
    request = b"GET / HTTP/1.1\r\n\r\n"
    with port.knock() as raw:
        await asyncio.to_thread(speak_at_once, raw, request)
        await eventually(lambda: port.delivered)
        port.delivered[0].settimeout(DEADLINE_S)
        assert await asyncio.to_thread(received, port.delivered[0], len(request)) == request


async def test_one_who_does_not_read_holds_up_the_sender(port: Port) -> None:
    client, plain = await port.joined()
    with client:
        for sender in (plain, client):
            sender.settimeout(0.5)
            sent = 0
            # TLS has no way to say how much of it was sent, so there is no more of anything on this connection.
            with contextlib.suppress(TimeoutError):
                while sent < MORE_THAN_BUFFERS:
                    sent += sender.send(bytes(65536))
            assert sent < MORE_THAN_BUFFERS


async def test_plain_end_has_the_peer_of_the_connection_and_can_be_given_away(port: Port) -> None:
    client, plain = await port.joined()
    with client:
        assert isinstance(plain, PlainEnd)
        assert plain.getpeername() == client.getsockname()
        # As a descriptor, to a program that knows nothing of TLS.
        os.write(plain.fileno(), b"from afar")
        assert await asyncio.to_thread(received, client, 9) == b"from afar"


async def test_request_in_the_clear_is_told_to_use_tls(port: Port) -> None:
    def ask() -> tuple[int, bytes]:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port.number, timeout=DEADLINE_S)) as plainly:
            plainly.request("GET", "/healthz")
            response = plainly.getresponse()
            return response.status, response.read()

    status, body = await asyncio.to_thread(ask)
    assert status == 400
    assert b"https://" in body
    assert port.delivered == []


async def test_what_only_begins_like_tls_is_hung_up_on(port: Port) -> None:
    with port.knock() as one:
        one.sendall(b"\x16" * 100)
        # An alert, and the end.
        assert (await asyncio.to_thread(received, one, 1000))[:1] in (b"", b"\x15")
    assert port.delivered == []


async def test_client_that_does_not_trust_the_certificate_is_hung_up_on(port: Port) -> None:
    def connect() -> None:
        with port.knock() as raw, pytest.raises(ssl.SSLCertVerificationError):
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).wrap_socket(raw, server_hostname="localhost")

    await asyncio.to_thread(connect)
    await eventually(lambda: not port.front.halves)
    assert port.delivered == []


async def test_handshake_has_a_deadline(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tls_front, "HANDSHAKE_S", 0.2)
    client, plain = await port.joined()
    with port.knock() as silent, port.knock() as slow, client:
        slow.sendall(b"\x16\x03\x01")
        assert await asyncio.to_thread(slow.recv, 100) == b""
        assert await asyncio.to_thread(silent.recv, 100) == b""
        # One who has shaken hands may take its time.
        client.sendall(b"x")
        assert await asyncio.to_thread(plain.recv, 100) == b"x"


async def test_too_many_that_do_not_shake_hands_drive_out_the_oldest(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tls_front, "MAX_PENDING", 3)
    async with serving() as port:
        with contextlib.ExitStack() as stack:
            client, plain = await port.joined()
            stack.enter_context(client)
            pending: list[socket.socket] = []
            for count in range(1, 6):
                pending.append(stack.enter_context(port.knock()))
                await eventually(lambda count=count: len(port.front.table) + port.front.table.dropped == count)
            for dropped in pending[:2]:
                with contextlib.suppress(ConnectionResetError):
                    assert await asyncio.to_thread(dropped.recv, 1) == b""
            assert len(port.front.table) == 3
            # They keep out nobody, nor do they end those who have shaken hands.
            newcomer, its_plain = await port.joined()
            stack.enter_context(newcomer)
            for one, another in ((client, plain), (newcomer, its_plain)):
                one.sendall(b"x")
                assert await asyncio.to_thread(another.recv, 1) == b"x"
    assert "rewarder port: 1 connections without the password were dropped, last for 127.0.0.1" in caplog.messages


async def test_client_that_hangs_up_ends_the_plain_end_after_its_last_words(port: Port) -> None:
    client, plain = await port.joined()
    with sending(client, LARGE):
        assert len(await asyncio.to_thread(received, plain, len(LARGE))) == len(LARGE)
    client.sendall(b"last words")
    client.close()
    assert await asyncio.to_thread(received, plain, 100) == b"last words"
    await eventually(lambda: not port.front.halves)


async def test_plain_end_that_hangs_up_ends_the_connection_after_its_last_words(port: Port) -> None:
    client, plain = await port.joined()
    with client:
        with sending(plain, LARGE):
            assert len(await asyncio.to_thread(received, client, len(LARGE))) == len(LARGE)
        plain.sendall(b"last words")
        plain.close()
        # That nothing was cut off is told: else this raised SSLEOFError.
        assert await asyncio.to_thread(received, client, 100) == b"last words"
    await eventually(lambda: not port.front.halves)


async def test_one_who_is_cut_off_takes_nobody_along(port: Port) -> None:
    (cut, its_plain), (client, plain) = await port.joined(), await port.joined()
    with client:
        os.close(cut.detach())
        assert await asyncio.to_thread(its_plain.recv, 1) == b""
        client.sendall(b"x")
        assert await asyncio.to_thread(plain.recv, 1) == b"x"


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - pathlib would open a descriptor more


async def test_close_ends_all_and_leaves_no_thread_and_no_descriptor() -> None:
    certificate()
    await asyncio.to_thread(descriptors)  # its pool of threads begins now
    threads, before = set(threading.enumerate()), descriptors()
    async with serving() as port:
        number = port.number
        assert "TLS" in {thread.name for thread in threading.enumerate()}
        with contextlib.ExitStack() as stack:
            client, plain = await port.joined()
            stack.enter_context(client)
            # One who says nothing, one in the middle of the handshake, one who doesn't read, and one just accepted.
            silent, halfway = (stack.enter_context(port.knock()) for _ in range(2))
            halfway.sendall(b"\x16\x03\x01")
            await eventually(lambda: len(port.front.table) == 2)
            plain.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    plain.send(LARGE)
            stack.enter_context(port.knock())
            await port.front.close()
            await port.front.close()
            plain.settimeout(DEADLINE_S)
            with contextlib.suppress(ConnectionError):
                assert await asyncio.to_thread(plain.recv, 1) == b""
            for one in (silent, halfway):
                with contextlib.suppress(ConnectionError):
                    assert await asyncio.to_thread(one.recv, 1) == b""
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", number), DEADLINE_S)
    assert not port.front.halves
    assert "TLS" not in {thread.name for thread in set(threading.enumerate()) - threads}
    assert descriptors() <= before


async def test_connections_that_come_while_it_closes_are_left_nowhere() -> None:
    await asyncio.to_thread(descriptors)
    before = descriptors()
    ended = threading.Event()

    def flood(number: int) -> None:
        while not ended.is_set():
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", number), DEADLINE_S) as raw:
                speak_at_once(raw, b"x")

    for _ in range(5):
        async with serving() as port:
            ended.clear()
            threads = [threading.Thread(target=flood, args=(port.number,)) for _ in range(4)]
            for thread in threads:
                thread.start()
            await eventually(lambda port=port: len(port.delivered) >= 5)
            await port.front.close()
            ended.set()
            for thread in threads:
                await asyncio.to_thread(thread.join)
    assert descriptors() <= before
