"""The socket of a connection after its handshake, which is in the clear for who reads it even where the peer has TLS.

The VNC drivers and lanes read a descriptor. With TLS it is one end of a socket pair, and a thread carries bytes between
the other end and the peer.
"""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import threading
from typing import Final

from pluriverse_protocol.rfb.web_stream import WebStream

from . import forks

# A relay stops reading one side while the other has left so much unread.
BUFFER_BYTES: Final = 256 * 1024
CHUNK_BYTES: Final = 64 * 1024

# What a socket raises that has nothing to read, or takes no more; TLS may have to read before it writes, and back.
_WOULD_BLOCK: Final = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)

# After close a relay ends as soon as it sees the socket pair closed.
JOIN_S: Final = 2.0


class Transport:
    """A connected socket without TLS; it owns the descriptor until that is detached."""

    def __init__(
        self, plain: socket.socket, stream: WebStream | None = None, relay: threading.Thread | None = None
    ) -> None:
        self.socket = forks.keep(plain)
        self.stream = stream
        """The WebSocket around what is read and sent here, if there is one."""
        self._relay = relay

    @classmethod
    def over(cls, connected: socket.socket, stream: WebStream | None = None) -> Transport:
        """Take over a connected socket, which may be one of TLS."""
        if not isinstance(connected, ssl.SSLSocket):
            return cls(connected, stream)
        ours, theirs = socket.socketpair()
        forks.keep(theirs)
        forks.keep(connected).setblocking(False)
        theirs.setblocking(False)
        relay = threading.Thread(target=_relay, args=(connected, theirs), name="tls", daemon=True)
        relay.start()
        return cls(ours, stream, relay)

    def detach(self) -> int:
        """Return the descriptor, which the caller owns from now on."""
        self.socket.setblocking(False)
        return self.socket.detach()

    def join(self) -> None:
        """Wait for the relay's end, after the descriptor was closed."""
        if self._relay is not None:
            self._relay.join(JOIN_S)

    def close(self) -> None:
        """Hang up."""
        self.socket.close()
        self.join()


def _relay(secured: ssl.SSLSocket, plain: socket.socket) -> None:
    """Carry bytes between the two until either hangs up and the other was sent all; close both."""
    to_plain, to_secured = bytearray(), bytearray()
    with contextlib.suppress(OSError), secured, plain:
        while True:
            open_ended = _read(plain, to_secured) and _read(secured, to_plain)
            _write(plain, to_plain)
            _write(secured, to_secured)
            if not open_ended or not _wait((secured, to_plain, to_secured), (plain, to_secured, to_plain)):
                return


def _read(source: socket.socket, into: bytearray) -> bool:
    """Read what is there, as far as there is room; False if the other end hung up."""
    # Until TLS itself has nothing more: what it has decrypted already shows on no descriptor.
    while len(into) < BUFFER_BYTES:
        try:
            data = source.recv(CHUNK_BYTES)
        except _WOULD_BLOCK:
            return True
        if not data:
            return False
        into += data
    return True


def _write(target: socket.socket, unsent: bytearray) -> None:
    with contextlib.suppress(*_WOULD_BLOCK):
        while unsent:
            del unsent[: target.send(unsent)]


def _wait(*sides: tuple[socket.socket, bytearray, bytearray]) -> bool:
    """Wait until a socket can be read into the first buffer, or sent the second; False if it is gone and was read."""
    poller = select.poll()
    for side, received, unsent in sides:
        reading = select.POLLIN if len(received) < BUFFER_BYTES else 0
        poller.register(side, reading | (select.POLLOUT if unsent else 0))
    gone = select.POLLHUP | select.POLLERR
    return not any(happened & gone and not happened & select.POLLIN for _, happened in poller.poll())
