"""The program's end of the report socket: reports to the daemon, requests from it."""

from __future__ import annotations

import os
import socket
from typing import Final

from pluriverse_protocol.errors import MalformedReport
from pluriverse_protocol.limits import MAX_REPORT_BYTES
from pluriverse_protocol.reports import Report, Request, decode_request, encode_line

SOCKET_VARIABLE: Final = "PLURIVERSE_SOCKET"

# Requests are about a hundred bytes and come one at a time; this takes hundreds of them at once.
READ_BYTES: Final = 64 * 1024


class NoDaemon(Exception):
    """No daemon listens on this program's report socket; the message names what to set."""


class DaemonGone(Exception):
    """The daemon hung up; the program should end."""


class Reporter:
    """A connected report socket. Reads never wait; writes wait only for a daemon that is behind with reading."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._rest = b""
        self._hung_up = False

    @classmethod
    def from_environment(cls) -> Reporter:
        """Connect to the Unix socket that the daemon named in ``PLURIVERSE_SOCKET``.

        Raises:
            NoDaemon: the variable isn't set, or nothing listens there.
        """
        path = os.environ.get(SOCKET_VARIABLE)
        if not path:
            raise NoDaemon(
                f"{SOCKET_VARIABLE} isn't set; the daemon sets it when it starts a program that reports: "
                "pluriverse-server run RUNTIME"
            )
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        try:
            connection.connect(path)
        except OSError as error:
            connection.close()
            raise NoDaemon(
                f"the daemon doesn't listen at {path} ({error}); check that it still runs, or start a new one: "
                f"pluriverse-server run RUNTIME"
            ) from error
        return cls(connection)

    def fileno(self) -> int:
        """Return the socket, for ``select``: readable when there are requests, or the daemon has hung up."""
        return self._socket.fileno()

    def requests(self) -> list[Request]:
        """Return the requests that have arrived, oldest first.

        Raises:
            DaemonGone: the daemon hung up, and all that it sent before was returned.
            MalformedReport: the daemon sent what isn't a request.
        """
        self._read()
        *lines, self._rest = self._rest.split(b"\n")
        if len(self._rest) > MAX_REPORT_BYTES:
            raise MalformedReport(f"a line of over {MAX_REPORT_BYTES} bytes")
        if self._hung_up and not lines:
            raise DaemonGone("the daemon closed the report socket")
        return [decode_request(line) for line in lines]

    def report(self, *reports: Report) -> None:
        """Send reports, all in one write.

        Raises:
            DaemonGone: the daemon hung up.
            LocalProtocolError: one of them can't be sent; none was.
        """
        data = b"".join(map(encode_line, reports))
        try:
            self._socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise DaemonGone("the daemon closed the report socket") from error

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def _read(self) -> None:
        while not self._hung_up:
            try:
                chunk = self._socket.recv(READ_BYTES, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            except ConnectionResetError:
                chunk = b""
            self._hung_up = not chunk
            self._rest += chunk
            if len(chunk) < READ_BYTES and chunk:
                return
