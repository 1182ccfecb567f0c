"""The socket of a connection after its handshake, which is plain RFB for the drivers even where the server has TLS.

The drivers read a descriptor. With TLS it is one end of a socket pair, and a thread carries bytes between the other end
and the server.
"""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import threading
from typing import Final

# A relay stops reading one side while the other has left so much unread.
BUFFER_BYTES: Final = 256 * 1024
CHUNK_BYTES: Final = 64 * 1024

# After close a relay ends as soon as it sees the socket pair closed.
JOIN_S: Final = 2.0


class Transport:
    """A connected socket that speaks plain RFB; it owns the descriptor until that is detached."""

    def __init__(self, plain: socket.socket, relay: Relay | None = None) -> None:
        self.socket = plain
        self._relay = relay

    @classmethod
    def over(cls, connected: socket.socket) -> Transport:
        """Take over a connected socket, which may be one of TLS."""
        if not isinstance(connected, ssl.SSLSocket):
            return cls(connected)
        ours, theirs = socket.socketpair()
        return cls(ours, Relay(connected, theirs))

    def detach(self) -> int:
        """Return the descriptor, which the caller owns from now on."""
        self.socket.setblocking(False)
        return self.socket.detach()

    def join(self) -> None:
        """Wait for the relay's end, after the descriptor was closed."""
        if self._relay is not None:
            self._relay.join()

    def close(self) -> None:
        """Hang up."""
        self.socket.close()
        self.join()


class Relay:
    """A thread that carries bytes between a TLS socket and a plain one until either hangs up, and closes both."""

    def __init__(self, secured: ssl.SSLSocket, plain: socket.socket) -> None:
        self._secured = secured
        self._plain = plain
        self._to_plain = bytearray()
        self._to_secured = bytearray()
        secured.setblocking(False)
        plain.setblocking(False)
        self._thread = threading.Thread(target=self._run, name="vnc: tls", daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Wait for its end."""
        self._thread.join(JOIN_S)

    def _run(self) -> None:
        with contextlib.suppress(OSError), self._secured, self._plain:
            while self._carry() and self._wait():
                pass

    def _carry(self) -> bool:
        """Move what can be moved without waiting; False once either side has hung up and was sent all."""
        open_ended = self._read_plain() and self._read_secured()
        self._write_plain()
        self._write_secured()
        return open_ended

    def _wait(self) -> bool:
        """Wait until something can be moved; False if a side is gone and has nothing more to read."""
        poller = select.poll()
        for source, target, out in (
            (self._secured, self._to_plain, self._to_secured),
            (self._plain, self._to_secured, self._to_plain),
        ):
            reading = select.POLLIN if len(target) < BUFFER_BYTES else 0
            poller.register(source, reading | (select.POLLOUT if out else 0))
        gone = select.POLLHUP | select.POLLERR
        return not any(happened & gone and not happened & select.POLLIN for _, happened in poller.poll())

    def _read_plain(self) -> bool:
        while len(self._to_secured) < BUFFER_BYTES:
            try:
                data = self._plain.recv(CHUNK_BYTES)
            except BlockingIOError:
                return True
            if not data:
                return False
            self._to_secured += data
        return True

    def _read_secured(self) -> bool:
        # Until TLS itself has nothing more: what it has decrypted already shows on no descriptor.
        while len(self._to_plain) < BUFFER_BYTES:
            try:
                data = self._secured.recv(CHUNK_BYTES)
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                return True
            if not data:
                return False
            self._to_plain += data
        return True

    def _write_plain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._to_plain:
                del self._to_plain[: self._plain.send(self._to_plain)]

    def _write_secured(self) -> None:
        with contextlib.suppress(ssl.SSLWantReadError, ssl.SSLWantWriteError):
            while self._to_secured:
                del self._to_secured[: self._secured.send(self._to_secured)]
