"""The daemon's end of the report socket: it listens, sends requests, and keeps what a program reports."""

from __future__ import annotations

import os
import socket
import time
from collections import deque
from pathlib import Path
from typing import TypeVar

from pluriverse_protocol.reports import Report, Request, decode_report, encode_line
from support.waiting import DEADLINE_S

_R = TypeVar("_R", bound=Report)


class ReportServer:
    """Listens at ``path``; one program connects."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "reports.sock"
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(os.fspath(self.path))
        self._listener.listen(1)
        self._peer: socket.socket | None = None
        self._rest = b""
        self._waiting: deque[Report] = deque()

    def __enter__(self) -> ReportServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.hang_up()
        self._listener.close()

    def accept(self, timeout_s: float = DEADLINE_S) -> None:
        self._listener.settimeout(timeout_s)
        self._peer, _ = self._listener.accept()

    def hang_up(self) -> None:
        if self._peer is not None:
            self._peer.close()

    def send(self, *requests: Request) -> None:
        """All in one write."""
        self.send_bytes(b"".join(map(encode_line, requests)))

    def send_bytes(self, data: bytes) -> None:
        assert self._peer is not None
        self._peer.sendall(data)

    def next(self, timeout_s: float = DEADLINE_S) -> Report:
        assert self._peer is not None
        deadline = time.monotonic() + timeout_s
        while not self._waiting:
            self._peer.settimeout(max(0.001, deadline - time.monotonic()))
            chunk = self._peer.recv(65536)
            assert chunk, "the program closed the connection"
            *lines, self._rest = (self._rest + chunk).split(b"\n")
            self._waiting.extend(map(decode_report, lines))
        return self._waiting.popleft()

    def expect(self, *kinds: type[_R], timeout_s: float = DEADLINE_S) -> _R:
        """The next report of one of these kinds; others are passed over."""
        deadline = time.monotonic() + timeout_s
        while True:
            report = self.next(max(0.001, deadline - time.monotonic()))
            if isinstance(report, kinds):
                return report
