"""The audit log: a line of JSON for each action that changes something: when, who, what, from where.

Lines are written by their own thread: a full or slow disk blocks no other work. Lines that can't be written are
counted, and their number is written once there is room.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import sys
import threading
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from .tokens import Token

log = logging.getLogger(__name__)

# What waits for a slow disk: some hundred kilobytes.
MAX_WAITING: Final = 1024

# At its end a remote waits so long for the last lines to be written.
CLOSE_S: Final = 1.0

STDERR: Final = Path("-")


class AuditLog:
    """Where actions are noted, from any thread. ``path`` None: nowhere; ``-``: standard error."""

    def __init__(self, path: Path | None = None) -> None:
        self._lines: queue.Queue[str | None] = queue.Queue(MAX_WAITING)
        self._lost = 0
        self._failing = False
        self._writer: threading.Thread | None = None
        if path is not None:
            with _opened(path, os.O_NONBLOCK):  # a pipe without a reader is an error now, rather than silence later
                pass
            self._writer = threading.Thread(target=self._write_all, args=(path,), name="audit log", daemon=True)
            self._writer.start()

    def note(self, action: str, who: Token | None, where: str, **what: Any) -> None:
        """Add a line, of JSON values. ``who`` None: an unauthenticated client, or the remote itself."""
        if self._writer is None:
            return
        whom = {"role": str(who.role), "name": who.name} if who is not None else None
        try:
            self._lines.put_nowait(_line({"action": action, "who": whom, "where": where, **what}))
        except queue.Full:
            self._lost += 1

    def close(self) -> None:
        """Write what waits, if that takes no longer than CLOSE_S; note nothing any more. May be called repeatedly."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with contextlib.suppress(queue.Full):
                self._lines.put(None, timeout=CLOSE_S)
                writer.join(CLOSE_S)

    def _write_all(self, path: Path) -> None:
        while (line := self._lines.get()) is not None:
            if self._lost:
                # Begins with the end of a line of which there was room for a part.
                line = "\n" + _line({"action": "lines lost", "who": None, "where": "", "lines": self._lost}) + line
            try:
                # Opened for each line, so the file can be rotated at any time.
                with _opened(path) as file:
                    _write(file, line.encode())
            except OSError as error:
                if not self._failing:
                    log.warning("the audit log %s can't be written: %s; counting the lost lines", path, error)
                self._failing = True
                self._lost += 1
            else:
                self._failing = False
                self._lost = 0


@contextlib.contextmanager
def _opened(path: Path, flags: int = 0) -> Generator[int]:
    if path == STDERR:
        yield sys.stderr.fileno()
        return
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | flags, 0o640)
    try:
        yield file
    finally:
        os.close(file)


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def _line(what: dict[str, Any]) -> str:
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return json.dumps({"time": now, **what}, separators=(",", ":")) + "\n"
