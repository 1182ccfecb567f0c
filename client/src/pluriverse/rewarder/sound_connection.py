"""What a remote plays in real time: a WebSocket that is read as its agent steps."""

from __future__ import annotations

import socket
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol import sound
from pluriverse_protocol.errors import ProtocolError
from pluriverse_protocol.rfb.web_stream import WebStream

from pluriverse import forks
from pluriverse.endpoint import Endpoint
from pluriverse.tls import WOULD_BLOCK

from .step_channel import connect

# Some seconds of sound, which are no more than what waits in the sockets of an agent that doesn't read.
MAX_TAKEN_BYTES: Final = 1024 * 1024
_READ_BYTES: Final = 64 * 1024


class SoundConnection:
    """Made by ``open``. ``closed`` once the remote has hung up, or was found to break the protocol."""

    def __init__(self, connected: socket.socket) -> None:
        self.closed: bool = False
        self._socket = forks.keep(connected)
        self._socket.settimeout(0)
        self._stream = WebStream(masks=True)
        self._rest = b""

    @classmethod
    def open(cls, endpoint: Endpoint) -> Self:
        """Connect to a remote; blocks. What is played from now on comes."""
        connection, _ = connect(endpoint, endpoint.url("ws", sound.PATH), endpoint.headers(), "plays no sound")
        return cls(connection)

    def take(self) -> NDArray[np.int16]:
        """Return what has come since the last call, without waiting: shape (frames, 2)."""
        data = bytearray(self._rest)
        try:
            while not self.closed and len(data) < MAX_TAKEN_BYTES:
                received = self._socket.recv(_READ_BYTES)
                data += self._stream.feed(received)
                self._socket.sendall(self._stream.take_answers())
                self.closed = not received or self._stream.closed is not None
        except WOULD_BLOCK:
            pass
        except (OSError, ProtocolError):
            self.closed = True
        whole = len(data) - len(data) % sound.FRAME_BYTES
        self._rest = bytes(data[whole:])
        return np.frombuffer(bytes(data[:whole]), "<i2").reshape(-1, sound.CHANNELS)

    def close(self) -> None:
        self.closed = True
        self._socket.close()
