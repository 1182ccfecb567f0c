"""TLS before the rewarder port: takes its connections, and hands each on in the clear once its handshake is done.

What comes out of TLS goes through a pair of sockets, whose other end is as good as the connection itself: it can be
given to whoever speaks on it from then on, to a program too, and TLS stays here, in the thread of the gate.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any, Final

from pluriverse_server.access.addresses import address_key
from pluriverse_server.access.connections import ConnectionTable
from pluriverse_server.access.strangers import log_dropped
from pluriverse_server.certificate import Certificate
from pluriverse_server.process import serve
from pluriverse_server.tasks import start_task

from .loop_thread import LoopThread
from .pump import Half, join
from .tls_stream import TlsBroken, TlsStream

PORT: Final = "rewarder port"

# Those whose handshake isn't done yet. It is two round trips.
MAX_PENDING: Final = 128
HANDSHAKE_S: Final = 10.0

# The first byte of TLS: a record of the handshake.
_TLS_HANDSHAKE: Final = 0x16

_IN_THE_CLEAR: Final = b"this port speaks TLS: connect with https://, wss:// or pluriverses://\n"
_REFUSAL: Final = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
    % (len(_IN_THE_CLEAR), _IN_THE_CLEAR)
)

# Called with the plain end of each connection, in the thread of the front.
Deliver = Callable[[socket.socket], object]


class PlainEnd(socket.socket):
    """The plain end of a connection with TLS. Its peer is the one at the other end of that."""

    peer: Any = None

    def getpeername(self) -> Any:
        """Return the address of the connection's peer."""
        return self.peer


class TlsFront:
    """Speaks TLS with ``certificate``, in a thread with an event loop that the gate may share."""

    def __init__(self, certificate: Certificate) -> None:
        self.certificate = certificate
        self.thread = LoopThread("TLS")
        self.table: ConnectionTable[_SecuredHalf] = ConnectionTable(
            max_pending=MAX_PENDING, max_connections=0, max_per_address=0
        )
        self.halves: set[Half] = set()
        self._servers: list[asyncio.Server] = []

    async def serve(self, listener: socket.socket, deliver: Deliver) -> None:
        """Take the connections of a listening socket, which is closed with this."""

        async def begin() -> None:
            self._servers.append(await serve(lambda: _SecuredHalf(self, deliver), listener))

        await self.thread.run(begin())

    async def close(self) -> None:
        """End all connections and the thread. May be called repeatedly."""
        if self.thread.runs:
            await self.thread.run(self._close())
            await self.thread.stop()

    async def _close(self) -> None:
        servers, self._servers = self._servers, []
        for server in servers:
            # A server that is closed forgets the connections that it accepted a moment ago.
            for listener in server.sockets:
                asyncio.get_running_loop().remove_reader(listener.fileno())
        while self.halves or len(asyncio.all_tasks()) > 1:
            for half in list(self.halves):
                half.transport.abort()
            await asyncio.sleep(0)
        for server in servers:
            server.close()


class _PlainHalf(Half):
    """Our end of the pair of sockets."""

    def __init__(self, front: TlsFront) -> None:
        self._front = front

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._front.halves.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._front.halves.discard(self)
        super().connection_lost(exc)


class _SecuredHalf(Half):
    """A connection with TLS."""

    def __init__(self, front: TlsFront, deliver: Deliver) -> None:
        self._front = front
        self._deliver = deliver
        self._tls = TlsStream(front.certificate.context)
        self._began = False
        self._early = b""
        self._joining: asyncio.Task[None] | None = None
        self._address = ""
        self._deadline = asyncio.get_running_loop().call_later(HANDSHAKE_S, self._drop)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._front.halves.add(self)
        self._address = address_key(self.transport.get_extra_info("peername")[0])
        dropped = self._front.table.add(self, self._address)
        if dropped is not None:
            dropped.transport.abort()
            log_dropped(PORT, self._front.table, self._address, asyncio.get_running_loop().time())

    def data_received(self, data: bytes) -> None:
        if not self._began and data[0] != _TLS_HANDSHAKE:
            self.transport.write(_REFUSAL)
            self.transport.close()
            return
        self._began = True
        try:
            received = self._tls.feed(data)
        except TlsBroken:
            # Mostly a client that doesn't trust the certificate, and has said so.
            self.transport.write(self._tls.to_send())
            self.transport.close()
            return
        self.transport.write(self._tls.to_send())
        if self.other is not None:
            self.other.send(received)
            return
        self._early += received
        if self._tls.established and self._joining is None:
            # What it sends meanwhile waits in the kernel.
            self.transport.pause_reading()
            self._joining = start_task(self._join(), "TLS", self.transport.abort)

    def send(self, data: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(self._tls.wrap(data))

    def connection_lost(self, exc: Exception | None) -> None:
        self._deadline.cancel()
        self._front.table.remove(self)
        self._front.halves.discard(self)
        if self._joining is not None:
            self._joining.cancel()
        super().connection_lost(exc)

    def end(self) -> None:
        """Say that nothing was cut off, and hang up."""
        if not self.transport.is_closing() and self._tls.established:
            self.transport.write(self._tls.close())
        self.transport.close()

    async def _join(self) -> None:
        ours, theirs = socket.socketpair()
        plain_end = PlainEnd(fileno=theirs.detach())
        plain_end.peer = self.transport.get_extra_info("peername")
        try:
            _, plain = await asyncio.get_running_loop().connect_accepted_socket(lambda: _PlainHalf(self._front), ours)
        except BaseException:
            ours.close()
            plain_end.close()
            raise
        if self.transport.is_closing():
            plain.transport.abort()
            plain_end.close()
            return
        self._deadline.cancel()
        # From here on the daemon counts it.
        self._front.table.remove(self)
        join(self, plain)
        plain.send(self._early)
        self._early = b""
        self._deliver(plain_end)
        self.transport.resume_reading()

    def _drop(self) -> None:
        self.transport.abort()
