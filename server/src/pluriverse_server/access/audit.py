"""The audit log: a line of JSON for each action that changes something: when, who, what, from where."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from .tokens import Token

log = logging.getLogger(__name__)

STDERR: Final = Path("-")

_path: Path | None = None


def note(action: str, who: Token | None, where: str, **what: Any) -> None:
    """Add a line, of JSON values, from any thread. ``who`` None: an unauthenticated client, or the remote itself."""
    if _path is None:
        return
    whom = {"role": str(who.role), "name": who.name} if who is not None else None
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    line = json.dumps({"time": now, "action": action, "who": whom, "where": where, **what}, separators=(",", ":"))
    try:
        _write(_path, line + "\n")
    except OSError as error:
        log.warning("the audit log %s can't be written: %s", _path, error)


@contextlib.contextmanager
def written_to(path: Path | None) -> Generator[None]:
    """Write what is noted within this to a file, which may be moved away; None: nowhere; ``-``: standard error."""
    global _path  # noqa: PLW0603 - what is noted is the process'
    if path is not None:
        if path.exists() and not path.is_file():
            raise OSError("it is no file")
        _write(path, "")
    before, _path = _path, path
    try:
        yield
    finally:
        _path = before


def _write(path: Path, text: str) -> None:
    if path == STDERR:
        sys.stderr.write(text)
        return
    with path.open("a") as file:
        file.write(text)
