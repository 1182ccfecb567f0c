import contextlib
import socket
import time
from collections.abc import Callable, Generator
from dataclasses import replace

import pytest
from pluriverse.endpoint import Endpoint
from pluriverse.screen_socket import RECEIVE_BYTES, ScreenSocket
from pluriverse.web_socket import Refused
from pluriverse_protocol.rfb.web_stream import WebStream
from support.sockets import DEADLINE_S, listening, shake_hands
from websockets.frames import Frame, Opcode
from websockets.http11 import Request

GREETING = b"RFB 003.008\n"

Script = Callable[[socket.socket], None]


@contextlib.contextmanager
def serving(script: Script) -> Generator[Endpoint]:
    """A server that does this with its connection, and then hangs up."""
    with listening(script) as port:
        yield Endpoint("127.0.0.1", port, "sesame")


def in_web(*sent: bytes) -> Script:
    """A server whose WebSocket is open, and sends this as soon as it is; all in one packet."""

    def script(connection: socket.socket) -> None:
        connection.sendall(shake_hands(connection)[1] + b"".join(sent))
        wait_for_end(connection)

    return script


def wait_for_end(connection: socket.socket) -> bytes:
    """All that comes until the other side hangs up."""
    data = b""
    with contextlib.suppress(ConnectionError):
        while more := connection.recv(4096):
            data += more
    return data


def message(data: bytes, opcode: Opcode = Opcode.BINARY, *, final: bool = True) -> bytes:
    return Frame(opcode, data, fin=final).serialize(mask=False)


def received(opened: ScreenSocket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = opened.receive()
        assert more, "it hung up"
        data += more
    return data


# -- A VNC port --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("open_it", [ScreenSocket.of_port, ScreenSocket.of_web])
def test_port_that_nobody_listens_on_is_told(open_it: Callable[[Endpoint, float], ScreenSocket]) -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        with pytest.raises(ConnectionRefusedError):
            open_it(Endpoint("127.0.0.1", reserved.getsockname()[1]), DEADLINE_S)


# -- A WebSocket -------------------------------------------------------------------------------------------------------


def test_web_socket_carries_bytes_both_ways_below_the_prefix() -> None:
    requests: list[Request] = []
    heard: list[bytes] = []

    def script(connection: socket.socket) -> None:
        request, answer = shake_hands(connection)
        requests.append(request)
        connection.sendall(answer + message(GREETING))
        heard.append(WebStream(masks=False).feed(wait_for_end(connection)))

    with serving(script) as endpoint:
        opened = ScreenSocket.of_web(replace(endpoint, path="/prefix/"), DEADLINE_S)
        with opened.raw:
            assert received(opened, len(GREETING)) == GREETING
            opened.send(GREETING)
            opened.send(b"")
            opened.send(bytes(70_000))
    assert heard == [GREETING + bytes(70_000)]
    assert requests[0].path == "/prefix/vnc"
    assert requests[0].headers["Authorization"] == endpoint.headers()["Authorization"]


def test_what_is_left_of_a_message_is_told_to_who_reads_on() -> None:
    size = 3 * RECEIVE_BYTES
    with serving(in_web(message(bytes(size)), message(b"second"))) as endpoint:
        opened = ScreenSocket.of_web(endpoint, DEADLINE_S)
        with opened.raw:
            got = len(opened.receive())
            assert 0 < got <= RECEIVE_BYTES
            assert opened.stream is not None
            assert opened.stream.left == size - got
            opened.raw.settimeout(DEADLINE_S)
            rest = bytes(size - got) + message(b"second")
            assert opened.raw.recv(len(rest), socket.MSG_WAITALL) == rest


def test_refusal_leaves_no_connection() -> None:
    ended: list[bytes] = []

    def script(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(b'HTTP/1.1 503 Busy\r\nContent-Length: 17\r\n\r\n{"error": "full"}')
        ended.append(wait_for_end(connection))

    with serving(script) as endpoint, pytest.raises(Refused, match=r"^full$"):
        ScreenSocket.of_web(endpoint, DEADLINE_S)
    assert ended == [b""]


# -- The deadline ------------------------------------------------------------------------------------------------------


def listen(connection: socket.socket) -> None:
    wait_for_end(connection)


@pytest.mark.parametrize(
    ("open_it", "script"),
    [(ScreenSocket.of_port, listen), (ScreenSocket.of_web, in_web()), (ScreenSocket.of_web, in_web(b"\x82"))],
    ids=["port", "WebSocket", "half a head"],
)
def test_silence_has_a_deadline(open_it: Callable[[Endpoint, float], ScreenSocket], script: Script) -> None:
    with serving(script) as endpoint:
        opened = open_it(endpoint, 0.3)
        with opened.raw:
            with pytest.raises(TimeoutError):
                opened.receive()
            # It is of all together: now there is no time for anything.
            with pytest.raises(TimeoutError):
                opened.send(GREETING)


def test_server_that_says_nothing_of_use_has_the_deadline() -> None:
    def script(connection: socket.socket) -> None:
        connection.sendall(shake_hands(connection)[1])
        with contextlib.suppress(ConnectionError):
            while True:
                connection.sendall(message(b"", Opcode.PONG) * 1000)

    with serving(script) as endpoint:
        opened = ScreenSocket.of_web(endpoint, 0.3)
        began = time.monotonic()
        with opened.raw, pytest.raises(TimeoutError):
            opened.receive()
        assert time.monotonic() - began < DEADLINE_S
