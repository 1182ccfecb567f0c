"""Both drivers before handmade servers whose RFB is in a WebSocket; how it is cut, tests/client/native tries."""

import contextlib
import socket
import time
from collections.abc import Callable, Generator
from typing import cast

import pytest
from pluriverse.endpoint import Endpoint
from pluriverse.rfb import RfbProtocolError
from pluriverse.vnc import Frame, VncConnection, VncOptions, connect_web, wait_for_frames
from pluriverse.vnc.options import Implementation
from pluriverse_protocol.events import KeyEvent
from pluriverse_protocol.rfb.messages import fence
from pluriverse_protocol.rfb.numbers import ClientMessage, FenceFlag
from support.sockets import DEADLINE_S, listening, shake_hands
from support.vnc_servers import Peer, one_colour, wait_for_error
from support.waiting import until
from websockets.frames import Close, Opcode
from websockets.frames import Frame as Message
from websockets.protocol import State
from websockets.server import ServerProtocol

pytestmark = pytest.mark.usefixtures("nothing_left")


def message(data: bytes, opcode: Opcode = Opcode.BINARY) -> bytes:
    return Message(opcode, data).serialize(mask=False)


class InWeb:
    """A server's connection as its ``Peer`` sees it. What is sent goes when something is to be read, all at once."""

    def __init__(self, connected: socket.socket) -> None:
        self.connected = connected
        self.pongs: list[bytes] = []
        self._to_send = b""
        self._received = b""
        connected.sendall(shake_hands(connected)[1])
        self._protocol = ServerProtocol(state=State.OPEN)

    def sendall(self, data: bytes) -> None:
        self._to_send += data

    def flush(self, behind: bytes = b"") -> None:
        """Send what waits, and behind it what is framed already, in one go."""
        data, self._to_send = self._to_send, b""
        self.connected.sendall((message(data) if data else b"") + behind)

    def recv(self, count: int) -> bytes:
        self.flush()
        while not self._received:
            data = self.connected.recv(65536)
            if not data:
                return b""
            self._protocol.receive_data(data)
            for event in self._protocol.events_received():
                if isinstance(event, Message) and event.opcode is Opcode.PONG:
                    self.pongs.append(bytes(event.data))
                elif isinstance(event, Message) and event.opcode is not Opcode.CLOSE:
                    assert event.opcode is Opcode.BINARY
                    assert event.fin
                    self._received += event.data
        data, self._received = self._received[:count], self._received[count:]
        return data


Script = Callable[[Peer, InWeb], None]


@contextlib.contextmanager
def serving(script: Script) -> Generator[Endpoint]:
    """Run ``script`` for the client that connects."""

    def serve(connected: socket.socket) -> None:
        web = InWeb(connected)
        script(Peer(cast("socket.socket", web), 64, 64), web)
        web.flush()

    with listening(serve) as port:
        yield Endpoint("127.0.0.1", port)


@contextlib.contextmanager
def connected(endpoint: Endpoint, implementation: Implementation) -> Generator[VncConnection]:
    connection = connect_web(endpoint, options=VncOptions(implementation=implementation))
    try:
        yield connection
    finally:
        connection.close()


def frame_of(connection: VncConnection, updates: int) -> Frame:
    """The frame once so many updates have come."""
    deadline = time.monotonic() + DEADLINE_S
    while True:
        frame = connection.frame()
        if frame is not None and frame.updates >= updates:
            return frame
        assert time.monotonic() < deadline, connection.error
        wait_for_frames([connection], 0.05)


def read_on(peer: Peer, web: InWeb) -> None:
    """Send what waits, and take what comes, until the client hangs up."""
    del web
    while True:
        peer.message()


def test_whole_handshake_and_the_first_frames_may_be_one_message(implementation: Implementation) -> None:
    def script(peer: Peer, web: InWeb) -> None:
        for colour in range(1, 21):
            peer.send(one_colour(64, 64, colour))
        read_on(peer, web)

    with serving(script) as endpoint, connected(endpoint, implementation) as connection:
        assert (frame_of(connection, 20).array == 20).all()


def test_what_the_client_says_arrives_whole_with_pings_answered(implementation: Implementation) -> None:
    heard: list[tuple[int, bytes]] = []
    webs: list[InWeb] = []
    payloads = [b"", b"there?", bytes(range(125))]

    def script(peer: Peer, web: InWeb) -> None:
        webs.append(web)
        peer.wait_for_request()
        peer.send(fence(FenceFlag.REQUEST | 1, b"a fence") + one_colour(64, 64, 5))
        web.flush(b"".join(message(payload, Opcode.PING) for payload in payloads))
        with contextlib.suppress(ConnectionError):
            while True:
                heard.append(peer.message())

    with serving(script) as endpoint, connected(endpoint, implementation) as connection:
        assert (frame_of(connection, 1).array == 5).all()
        connection.send_events([KeyEvent(key, True) for key in range(1, 200)])
        until(lambda: any(web.pongs == payloads for web in webs))
    keys = [body for kind, body in heard if kind == ClientMessage.KEY_EVENT]
    # What is held at the end is let go.
    assert [body[0] for body in keys] == [1] * 199 + [0] * 199
    assert [body[8:] for kind, body in heard if kind == ClientMessage.FENCE] == [b"a fence"]


@pytest.mark.parametrize(
    ("reason", "said"),
    [(Close(1001, "the VNC server was lost").serialize(), "the VNC server was lost"), (b"", "no reason given")],
)
def test_close_is_an_error_that_tells_why_and_the_last_picture_stays(
    implementation: Implementation, reason: bytes, said: str
) -> None:
    def script(peer: Peer, web: InWeb) -> None:
        peer.wait_for_request()
        peer.send(one_colour(64, 64, 3))
        # In one packet with the end of the picture.
        web.flush(message(reason, Opcode.CLOSE) + message(b"\xee nobody hears this"))
        read_on(peer, web)

    with serving(script) as endpoint, connected(endpoint, implementation) as connection:
        error = wait_for_error(connection)
        assert isinstance(error, ConnectionError)
        assert str(error) == f"the server hung up: {said}"
        assert (frame_of(connection, 1).array == 3).all()


def test_what_nobody_agreed_on_is_a_typed_error(implementation: Implementation) -> None:
    def script(peer: Peer, web: InWeb) -> None:
        peer.wait_for_request()
        web.flush(message(b"text", Opcode.TEXT))
        read_on(peer, web)

    with serving(script) as endpoint, connected(endpoint, implementation) as connection:
        error = wait_for_error(connection)
        assert isinstance(error, RfbProtocolError)
        assert type(error).__name__ == "BadWebSocket"
