import contextlib
import socket
import time
from collections.abc import Callable, Generator

import pytest
from pluriverse.web_socket import Refused, upgrade
from support.sockets import DEADLINE_S, listening, shake_hands
from websockets.frames import Frame, Opcode
from websockets.protocol import State

Script = Callable[[socket.socket], None]


@contextlib.contextmanager
def serving(script: Script) -> Generator[socket.socket]:
    with listening(script) as port, socket.create_connection(("127.0.0.1", port), DEADLINE_S) as connection:
        yield connection


def saying(answer: bytes) -> Script:
    """A server that says this to whatever is asked."""

    def script(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(answer)

    return script


def soon(seconds: float = DEADLINE_S) -> float:
    return time.monotonic() + seconds


def test_no_byte_beyond_the_handshake_is_read() -> None:
    frame = Frame(Opcode.BINARY, b"RFB 003.008\n").serialize(mask=False)

    def script(connection: socket.socket) -> None:
        _, answer = shake_hands(connection)
        connection.sendall(answer + frame)

    with serving(script) as connection:
        assert upgrade(connection, "ws://localhost/vnc", {}, soon()).state is State.OPEN
        assert connection.recv(4096) == frame


def test_answer_may_come_in_any_pieces() -> None:
    def script(connection: socket.socket) -> None:
        _, answer = shake_hands(connection)
        for byte in answer:
            connection.sendall(bytes([byte]))

    with serving(script) as connection:
        assert upgrade(connection, "ws://localhost/vnc", {}, soon()).state is State.OPEN


def refusal(status: str, body: bytes) -> bytes:
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status.encode(), len(body), body)


WORDS = b"the password is missing or wrong"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        pytest.param(refusal("401 Unauthorized", b'{"error": "%s"}' % WORDS), WORDS.decode(), id="JSON"),
        pytest.param(refusal("401 Unauthorized", b'{"why": "no"}'), '{"why": "no"}', id="other JSON"),
        pytest.param(refusal("401 Unauthorized", b'{"error'), '{"error', id="broken JSON"),
        pytest.param(refusal("403 Forbidden", WORDS), WORDS.decode(), id="plain text"),
        pytest.param(refusal("404 Not Found", b""), "Not Found", id="no words"),
        pytest.param(refusal("403 Forbidden", b"\x1b[31mred"), r"\x1b[31mred", id="colours of a terminal"),
        pytest.param(refusal("403 Forbidden", b"\xffno"), "\ufffdno", id="no text"),
    ],
)
def test_refusal_is_raised_in_the_servers_own_words(answer: bytes, said: str) -> None:
    with serving(saying(answer)) as connection, pytest.raises(Refused) as refused:
        upgrade(connection, "ws://localhost/vnc", {}, soon())
    assert str(refused.value) == said


SWITCHES = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(refusal("200 OK", b"hello")[:-1], id="half a body"),
        pytest.param(b"RFB 003.008\n", id="another protocol"),
        pytest.param(bytes(20_000), id="a line without an end"),
        pytest.param(SWITCHES + b"Sec-WebSocket-Accept: " + b"A" * 27 + b"=\r\n\r\n", id="another key's proof"),
    ],
)
def test_server_that_hangs_up_or_speaks_no_websocket_is_told_as_a_refusal(answer: bytes) -> None:
    with serving(saying(answer)) as connection, pytest.raises(Refused) as refused:
        upgrade(connection, "ws://localhost/vnc", {}, soon())
    assert str(refused.value)
    assert str(refused.value).isprintable()


def test_server_that_breaks_off_is_an_error_of_the_network() -> None:
    # It never reads the request, so the connection is reset.
    with serving(lambda connection: None) as connection, pytest.raises(ConnectionError):
        upgrade(connection, "ws://localhost/vnc", {}, soon())


def test_server_that_says_nothing_has_a_deadline() -> None:
    def listen(connection: socket.socket) -> None:
        while connection.recv(4096):
            pass

    with serving(listen) as connection, pytest.raises(TimeoutError):
        upgrade(connection, "ws://localhost/vnc", {}, soon(0.2))


def test_server_that_never_comes_to_an_end_has_the_same_deadline() -> None:
    def talk(connection: socket.socket) -> None:
        connection.sendall(SWITCHES)
        for _ in range(100):
            connection.sendall(b"X-Word: " + b"and " * 1000 + b"\r\n")

    with serving(talk) as connection, pytest.raises(TimeoutError):
        upgrade(connection, "ws://localhost/vnc", {}, soon(0.05))
