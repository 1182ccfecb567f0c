"""The ``reports`` source: the Unix socket on which a cooperating program reports what happens."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pluriverse_protocol.errors import MalformedReport
from pluriverse_protocol.limits import MAX_REPORT_BYTES
from pluriverse_protocol.reports import Joystick, Report, Request, Reset, decode_report, encode_line

from pluriverse_server.process import start_error

log = logging.getLogger(__name__)

# What the kernel keeps for a program that is busy: some ten requests. Linux takes at least 4.5 KiB.
SEND_BUFFER_BYTES: Final = 4096

# What is kept beside it, of which a reset makes most needless; the oldest are dropped.
MAX_WAITING: Final = 64

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
        self.path = path
        self.malformed_reports = 0
        self._on_connect, self._on_report, self._on_hang_up = on_connect, on_report, on_hang_up
        self._server: asyncio.Server | None = None
        self._program: _Connection | None = None

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_unix_server(lambda: _Connection(self), str(self.path))
        except OSError as error:
            raise start_error(f"the socket {self.path}", error) from error
        # For programs with a user of their own, whose group its folder then has.
        self.path.chmod(0o660)

    async def stop(self) -> None:
        self.hang_up()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._server = None
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()

    @property
    def connected(self) -> bool:
        return self._program is not None

    def hang_up(self) -> None:
        if self._program is not None:
            program, self._program = self._program, None
            program.transport.abort()

    def send(self, request: Request) -> None:
        """Send the program a request; does nothing if none is connected.

        While it is busy, requests wait until it reads, and a reset takes the place of what waits for an older episode.
        """
        if self._program is not None:
            self._program.send(request)

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
        """End a connection, and report the reason if it was the program's."""
        if connection is self._program:
            self.hang_up()
            self._on_hang_up(reason)


class _Connection(asyncio.Protocol):
    """One connection: splits what it receives into lines."""

    transport: asyncio.Transport

    def __init__(self, socket: ReportSocket) -> None:
        self._socket = socket
        self._rest = b""
        self._busy = False
        self._waiting: deque[Request] = deque(maxlen=MAX_WAITING)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        transport.set_write_buffer_limits(0)
        self._socket.connect(self)

    def send(self, request: Request) -> None:
        if isinstance(request, Reset):
            others = [waiting for waiting in self._waiting if not isinstance(waiting, Reset | Joystick)]
            self._waiting = deque(others, MAX_WAITING)
        self._waiting.append(request)
        self._flush()

    def pause_writing(self) -> None:
        self._busy = True

    def resume_writing(self) -> None:
        self._busy = False
        self._flush()

    def _flush(self) -> None:
        while self._waiting and not self._busy:
            self.transport.write(encode_line(self._waiting.popleft()))

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._socket.receive(self, line)
        if len(self._rest) > MAX_REPORT_BYTES:
            self._rest = b""
            self._socket.lose(self, f"the program's report was over {MAX_REPORT_BYTES} bytes")

    def connection_lost(self, exc: Exception | None) -> None:
        self._socket.lose(self, "the program closed the connection")
