"""The ``reports`` source: the Unix socket on which a cooperating program reports what happens."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pluriverse_protocol.errors import MalformedReport
from pluriverse_protocol.limits import MAX_REPORT_BYTES
from pluriverse_protocol.reports import Report, Request, decode_report, encode_line

from pluriverse_server.process import StartError

log = logging.getLogger(__name__)

# Requests have some hundred bytes; a program that leaves this many unread doesn't read at all.
MAX_UNREAD_BYTES: Final = 256 * 1024

# A program that sends nonsense 60 times a second must not fill the disk with log lines.
MAX_LOGGED_COMPLAINTS: Final = 20


class ReportSocket:
    """Listens on ``path`` and talks to one program at a time; a second connection is refused."""

    def __init__(
        self,
        path: Path,
        on_connect: Callable[[], None],
        on_report: Callable[[Report], None],
        on_hang_up: Callable[[str], None],
    ) -> None:
        """``on_hang_up`` gets the reason in words."""
        self.path = path
        self.malformed_reports = 0
        self._on_connect, self._on_report, self._on_hang_up = on_connect, on_report, on_hang_up
        self._server: asyncio.Server | None = None
        self._program: _Connection | None = None

    async def start(self) -> None:
        """Listen. The folder of ``path`` must keep others out.

        Raises:
            StartError: the socket can't be made; sockets' paths have at most 107 bytes.
        """
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_unix_server(lambda: _Connection(self), str(self.path))
        except OSError as error:
            raise StartError(
                f"the report socket {self.path} can't be made: {error}; choose another folder, with a short path: "
                "export TMPDIR=/tmp"
            ) from error
        # For programs with a user of their own, whose group its folder then has.
        self.path.chmod(0o660)

    async def stop(self) -> None:
        """Hang up, stop listening, and remove the socket."""
        self.hang_up()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._server = None
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()

    @property
    def connected(self) -> bool:
        """Whether a program is connected."""
        return self._program is not None

    def hang_up(self) -> None:
        """Disconnect the program, so that another may connect."""
        if self._program is not None:
            program, self._program = self._program, None
            program.transport.abort()

    def send(self, request: Request) -> None:
        """Send the program a request; does nothing if none is connected."""
        if self._program is None:
            return
        if self._program.transport.get_write_buffer_size() > MAX_UNREAD_BYTES:
            self.lose(self._program, "the program does not read its requests")
            return
        self._program.transport.write(encode_line(request))

    def connect(self, connection: _Connection) -> None:
        """Accept a connection if there is no other."""
        if self._program is not None:
            log.warning("a second connection to the report socket was turned away")
            connection.transport.abort()
            return
        self._program = connection
        self._on_connect()

    def receive(self, connection: _Connection, line: bytes) -> None:
        """Pass on a report; drop what isn't one."""
        if connection is not self._program:
            return
        try:
            report = decode_report(line)
        except MalformedReport as error:
            self.malformed_reports += 1
            if self.malformed_reports <= MAX_LOGGED_COMPLAINTS:
                log.warning("a report of the program was dropped: %s", error)
            return
        self._on_report(report)

    def lose(self, connection: _Connection, reason: str) -> None:
        """End a connection, and say why if it was the program's."""
        if connection is self._program:
            self.hang_up()
            self._on_hang_up(reason)


class _Connection(asyncio.Protocol):
    """One connection: splits what it receives into lines."""

    transport: asyncio.Transport

    def __init__(self, socket: ReportSocket) -> None:
        self._socket = socket
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._socket.connect(self)

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._socket.receive(self, line)
        if len(self._rest) > MAX_REPORT_BYTES:
            self._rest = b""
            self._socket.lose(self, f"the program's report was over {MAX_REPORT_BYTES} bytes")

    def connection_lost(self, exc: Exception | None) -> None:
        self._socket.lose(self, "the program hung up")
