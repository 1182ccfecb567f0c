"""The socket of a connection after its handshake, with TLS taken off by a thread where there is any.

The drivers read plain bytes from a descriptor. Where the server speaks TLS, that is one end of a socket pair, and a
``Relay`` sits between its other end and the server.
"""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import threading
from typing import Final

# A relay holds back the server rather than keep more than this for a driver that doesn't read, and the other way round.
HELD_BYTES: Final = 256 * 1024
CHUNK_BYTES: Final = 64 * 1024

# After close a relay ends as soon as it sees the socket pair closed.
JOIN_S: Final = 2.0


class Link:
    """A connected socket that speaks plain RFB. Somebody owns it at any time: this, or who detached it."""

    def __init__(self, plain: socket.socket, relay: Relay | None = None) -> None:
        self.socket = plain
        self._relay = relay

    @classmethod
    def over_tls(cls, secured: ssl.SSLSocket) -> Link:
        """Take over a socket whose TLS handshake is done."""
        ours, theirs = socket.socketpair()
        return cls(ours, Relay(secured, theirs))

    def detach(self) -> int:
        """The descriptor, which is the caller's from now on."""
        self.socket.setblocking(False)
        return self.socket.detach()

    def join(self) -> None:
        """Wait for the relay, after the descriptor was closed."""
        if self._relay is not None:
            self._relay.join()

    def close(self) -> None:
        """Hang up."""
        self.socket.close()
        self.join()


class Relay:
    """Carries bytes between a TLS socket and a plain one, on one thread, until either hangs up; closes both."""

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
        """Wait until it has ended."""
        self._thread.join(JOIN_S)

    def _run(self) -> None:
        with contextlib.suppress(OSError), self._secured, self._plain:
            while self._carry() and self._wait():
                pass

    def _carry(self) -> bool:
        """Move what can be moved without waiting; False once either side has hung up and has been told all."""
        open_ended = self._read_plain() and self._read_secured()
        self._write_plain()
        self._write_secured()
        return open_ended

    def _wait(self) -> bool:
        """Wait until something can be moved; False: a side is gone, and nothing more can be read of it."""
        poller = select.poll()
        for source, target, out in (
            (self._secured, self._to_plain, self._to_secured),
            (self._plain, self._to_secured, self._to_plain),
        ):
            reading = select.POLLIN if len(target) < HELD_BYTES else 0
            poller.register(source, reading | (select.POLLOUT if out else 0))
        gone = select.POLLHUP | select.POLLERR
        return not any(happened & gone and not happened & select.POLLIN for _, happened in poller.poll())

    def _read_plain(self) -> bool:
        while len(self._to_secured) < HELD_BYTES:
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
        while len(self._to_plain) < HELD_BYTES:
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
