"""The ``reports`` source: the Unix socket on which a cooperating program says what happens."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pluriverse_protocol.errors import MalformedReport
from pluriverse_protocol.limits import MAX_REPORT_BYTES
from pluriverse_protocol.reports import Report, Request, decode_report, encode_line

from pluriverse_server.process import StartError

log = logging.getLogger(__name__)

# Requests are some hundred bytes; a program that leaves this many unread doesn't read at all.
MAX_UNREAD_BYTES: Final = 256 * 1024

# A program that prints nonsense at 60 lines a second shouldn't fill the disk with our complaints.
MAX_LOGGED_COMPLAINTS: Final = 20


@dataclass(frozen=True, slots=True)
class Listener:
    """Who is told what the program says. ``on_hang_up`` gets the reason in words."""

    on_connect: Callable[[], None]
    on_report: Callable[[Report], None]
    on_hang_up: Callable[[str], None]


class ReportSocket:
    """Listens on ``path`` and talks with one program at a time; a second connection is turned away."""

    def __init__(self, path: Path, listener: Listener) -> None:
        self.path = path
        self.malformed_reports = 0
        self._listener = listener
        self._server: asyncio.Server | None = None
        self._program: _Line | None = None

    async def start(self) -> None:
        """Begin to listen. The folder of ``path`` keeps others out.

        Raises:
            StartError: the socket can't be made; sockets' paths are at most 107 bytes long.
        """
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_unix_server(self._answer, str(self.path))
        except OSError as error:
            raise StartError(
                f"the report socket {self.path} can't be made: {error}; choose another folder, with a short path: "
                "export TMPDIR=/tmp"
            ) from error

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
        """Whether a program is there."""
        return self._program is not None

    def hang_up(self) -> None:
        """End the conversation with the program of now; the next may connect."""
        if self._program is not None:
            program, self._program = self._program, None
            program.transport.abort()

    def send(self, request: Request) -> None:
        """Ask the program for something; nothing happens if there is none."""
        if self._program is None:
            return
        if self._program.transport.get_write_buffer_size() > MAX_UNREAD_BYTES:
            self._lose(self._program, "the program does not read its requests")
            return
        self._program.transport.write(encode_line(request))

    # ── what the line tells ─────────────────────────────────────────────────────────────────────────────────────────

    def _answer(self) -> _Line:
        return _Line(on_connect=self._connected, on_line=self._said, on_end=self._lose)

    def _connected(self, line: _Line) -> None:
        if self._program is not None:
            log.warning("a second connection to the report socket was turned away")
            line.transport.abort()
            return
        self._program = line
        self._listener.on_connect()

    def _said(self, line: _Line, text: bytes) -> None:
        if line is not self._program:
            return
        try:
            report = decode_report(text)
        except MalformedReport as error:
            self.malformed_reports += 1
            if self.malformed_reports <= MAX_LOGGED_COMPLAINTS:
                log.warning("a report of the program was dropped: %s", error)
            return
        self._listener.on_report(report)

    def _lose(self, line: _Line, reason: str) -> None:
        if line is self._program:
            self.hang_up()
            self._listener.on_hang_up(reason)


class _Line(asyncio.Protocol):
    """One connection: splits what comes into lines."""

    transport: asyncio.Transport

    def __init__(
        self,
        *,
        on_connect: Callable[[_Line], None],
        on_line: Callable[[_Line, bytes], None],
        on_end: Callable[[_Line, str], None],
    ) -> None:
        self._on_connect = on_connect
        self._on_line = on_line
        self._on_end = on_end
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._on_connect(self)

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._on_line(self, line)
        if len(self._rest) > MAX_REPORT_BYTES:
            self._rest = b""
            self._on_end(self, f"the program's report was over {MAX_REPORT_BYTES} bytes")

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_end(self, "the program hung up")
