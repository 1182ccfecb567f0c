"""Connections to an X server that demands a cookie: the private Xauthority file, and clients that use it."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import struct
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final, cast

from Xlib import display, error, xauth
from Xlib.protocol import display as protocol_display
from Xlib.protocol import event

from .errors import DisplayLost

COOKIE_PROTOCOL: Final = b"MIT-MAGIC-COOKIE-1"

# The protocol's cookies are 128 bits.
COOKIE_BYTES: Final = 16

# What python-xlib raises when the server is gone, refuses, or was never there.
CONNECTION_ERRORS: Final = (error.ConnectionClosedError, error.DisplayError, OSError)

# python-xlib takes the cookie's file from the environment, and keeps what it learns of a server on a class.
_opening: Final = threading.Lock()


def write_private_file(path: Path, content: bytes) -> None:
    """A new file that only this user may read; one that was there before is replaced, never written into."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def write_cookie(path: Path) -> None:
    """A new random cookie. It names this host and no display, so it is good for whichever number the server takes."""
    fields = (socket.gethostname().encode(), b"", COOKIE_PROTOCOL, secrets.token_bytes(COOKIE_BYTES))
    content = struct.pack(">H", xauth.FamilyLocal)
    content += b"".join(struct.pack(">H", len(field)) + field for field in fields)
    write_private_file(path, content)


def open_display(name: str, xauthority: Path) -> display.Display:
    """A connection to the X server at ``name``. It blocks for as long as that server is frozen.

    Raises:
        DisplayLost: there is none, or it refuses the cookie.
    """
    with _opening, _environment_variable("XAUTHORITY", str(xauthority)):
        # Two kinds of server number their extensions differently: each connection gets tables of its own.
        shared = cast("Any", protocol_display.Display)
        opcodes: dict[str, int] = {}
        errors, events = error.xerror_class.copy(), event.event_class.copy()
        shared.extension_major_opcodes, shared.error_classes, shared.event_classes = opcodes, errors, events
        try:
            connection = display.Display(name)
        except CONNECTION_ERRORS as problem:
            raise DisplayLost(f"no connection to the X server at {name}: {problem}") from problem
        own = cast("Any", connection.display)
        own.extension_major_opcodes, own.error_classes, own.event_classes = opcodes, errors, events
    return connection


@contextlib.contextmanager
def _environment_variable(name: str, value: str) -> Generator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
