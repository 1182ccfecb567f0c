"""Handmade VNC servers: every byte they send is known, and so is when. Real ones may tear what they show."""

import contextlib
import socket
import struct
from collections.abc import Callable, Generator

from pluriverse.vnc import VncConnection
from pluriverse_protocol.rfb.handshake import VERSION, VERSION_BYTES
from pluriverse_protocol.rfb.messages import read_message
from pluriverse_protocol.rfb.numbers import ClientMessage
from pluriverse_protocol.rfb.pixel_format import BGRX
from support.rfb_encoders import rectangle, update
from support.sockets import listening

from .waiting import until


class Peer:
    """The server's end of one connection, after the handshake, at which it let everybody in."""

    def __init__(self, connected: socket.socket, width: int, height: int) -> None:
        self.socket = connected
        connected.sendall(VERSION % (3, 8))
        self.read(VERSION_BYTES)
        connected.sendall(b"\x01\x01")
        self.read(1)
        connected.sendall(bytes(4))
        self.read(1)
        connected.sendall(struct.pack(">HH", width, height) + BGRX.to_bytes() + struct.pack(">I", 4) + b"test")

    def read(self, count: int) -> bytes:
        """So many bytes of what the client sends."""
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise ConnectionError("the client hung up")
            data += more
        return data

    def message(self) -> tuple[int, bytes]:
        """The client's next message: its type, and what follows that."""
        steps = read_message(set(ClientMessage))
        need = next(steps)
        while True:
            try:
                need = steps.send(self.read(need))
            except StopIteration as end:
                kind, message = end.value
                return kind, message[1:]

    def wait_for(self, kind: int) -> bytes:
        """Skip messages up to one of this type."""
        while True:
            got, body = self.message()
            if got == kind:
                return body

    def wait_for_request(self) -> tuple[bool, tuple[int, int, int, int]]:
        """Skip messages up to a request for an update: whether incremental, and of what."""
        incremental, *place = struct.unpack(">BHHHH", self.wait_for(3))
        return bool(incremental), (place[0], place[1], place[2], place[3])

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)


def one_colour(width: int, height: int, colour: int) -> bytes:
    """An update that paints a whole screen in one grey, in several rectangles."""
    bands = 4
    height_of_band = height // bands
    body = bytes([colour, colour, colour, 0]) * (width * height_of_band)
    return update(*(rectangle(0, band * height_of_band, width, height_of_band, 0, body) for band in range(bands)))


def wait_for_error(connection: VncConnection) -> Exception:
    error = until(lambda: connection.error)
    assert error is not None
    return error


@contextlib.contextmanager
def server(script: Callable[[Peer], None], *, width: int = 64, height: int = 64) -> Generator[int]:
    """Run ``script`` for each client that connects to the port that this yields, each on a thread, as ``listening``."""
    with listening(lambda connected: script(Peer(connected, width, height))) as port:
        yield port
