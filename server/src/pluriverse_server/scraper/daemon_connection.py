"""The scraper's end of the report socket: requests come one by one, reports go out in order."""

from __future__ import annotations

import asyncio
import os
from typing import Final, Self

from pluriverse_protocol.limits import MAX_REPORT_BYTES
from pluriverse_protocol.reports import Frame, Readings, Report, Request, decode_request, encode_line

SOCKET_VARIABLE: Final = "PLURIVERSE_SOCKET"

# Some seconds of reports. While the daemon is this far behind, it gets no frames and readings.
MAX_UNSENT_BYTES: Final = 1024 * 1024


class DaemonConnection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls) -> Self:
        """Connect to the Unix socket named in ``PLURIVERSE_SOCKET``; raise OSError if no daemon listens there."""
        return cls(*await asyncio.open_unix_connection(os.environ[SOCKET_VARIABLE], limit=MAX_REPORT_BYTES))

    async def request(self) -> Request | None:
        """Return the next request, or None once the daemon hung up; raise MalformedReport if it isn't valid."""
        try:
            line = await self._reader.readline()
        except ConnectionResetError:
            return None
        return decode_request(line) if line else None

    def send(self, *reports: Report) -> None:
        """Send reports in one write; raise LocalProtocolError, and send none, if one can't be encoded."""
        behind = self._writer.transport.get_write_buffer_size() > MAX_UNSENT_BYTES
        wanted = [report for report in reports if not (behind and isinstance(report, Frame | Readings))]
        self._writer.write(b"".join(map(encode_line, wanted)))

    def close(self) -> None:
        self._writer.close()
