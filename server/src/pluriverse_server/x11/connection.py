"""Connections to an X server that demands a cookie: the private Xauthority file, and clients that use it."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import stat
import struct
import threading
import traceback
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from Xlib import display, error, xauth
from Xlib.protocol import display as protocol_display
from Xlib.protocol import event

from . import polling

COOKIE_PROTOCOL: Final = b"MIT-MAGIC-COOKIE-1"

# The protocol's cookies are 128 bits.
COOKIE_BYTES: Final = 16

# What programs know their machine as: native/outside/names.c.
MACHINE: Final = "computer"

SOCKETS: Final = Path("/tmp/.X11-unix")  # noqa: S108 - X clients look there and nowhere else

# X's connection setup of a client that has no cookie, which may be refused: an answer, too.
SETUP: Final = struct.pack("<BxHHHHxx", ord("l"), 11, 0, 0, 0)

# What python-xlib raises when the server is gone, refuses, or was never there.
CONNECTION_ERRORS: Final = (error.ConnectionClosedError, error.DisplayError, error.XauthError, OSError)

cast("Any", protocol_display).select = polling

# python-xlib takes the cookie's file from the environment, and keeps what it learns of a server on a class.
_opening: Final = threading.Lock()


class DisplayLost(Exception):
    """The X server is gone, refuses, doesn't answer or lacks what is needed; the message names it."""


def address(display: str) -> str:
    """Return where the X server of a display such as ``:17`` listens: its file, else the abstract name."""
    path = SOCKETS / f"X{display.removeprefix(':')}"
    with contextlib.suppress(OSError):
        path.lstat()
        return str(path)
    return f"\0{path}"


def write_private_file(path: Path, content: bytes) -> None:
    """Write a new file that only this user may read, in place of one that was there."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def write_cookie(path: Path) -> None:
    cookie = secrets.token_bytes(COOKIE_BYTES)
    content = b""
    for machine in (socket.gethostname(), MACHINE):
        fields = (machine.encode(), b"", COOKIE_PROTOCOL, cookie)
        content += struct.pack(">H", xauth.FamilyLocal)
        content += b"".join(struct.pack(">H", len(field)) + field for field in fields)
    write_private_file(path, content)
    # Its folder is shared only with programs that have their own user.
    path.chmod(0o600 | path.parent.stat().st_mode & stat.S_IRGRP)


def open_display(name: str | None = None, xauthority: Path | None = None) -> display.Display:
    """Connect to the X server at ``name``, by default that of ``DISPLAY`` with the cookies of ``XAUTHORITY``.

    It blocks for as long as that server is frozen.
    """
    with _answering(name), _opening, _environment_variable("XAUTHORITY", xauthority):
        # Two kinds of server number their extensions differently: each connection gets tables of its own.
        shared = cast("Any", protocol_display.Display)
        before = shared.extension_major_opcodes, shared.error_classes, shared.event_classes
        opcodes: dict[str, int] = {}
        errors, events = error.xerror_class.copy(), event.event_class.copy()
        shared.extension_major_opcodes, shared.error_classes, shared.event_classes = opcodes, errors, events
        try:
            connection = display.Display(name)
        # Display numbers end at 65535 - 6000 where there is no Unix socket.
        except (*CONNECTION_ERRORS, OverflowError) as problem:
            _close_sockets(problem)
            raise DisplayLost(f"no connection to the X server at {name}: {problem}") from problem
        finally:
            shared.extension_major_opcodes, shared.error_classes, shared.event_classes = before
        own = cast("Any", connection.display)
        # RANDR's errors have taken the numbers of the core protocol's, and can't be parsed.
        errors |= error.xerror_class
        own.extension_major_opcodes, own.error_classes, own.event_classes = opcodes, errors, events
    return connection


@contextlib.contextmanager
def _answering(name: str | None) -> Generator[None]:
    """Wait until the X server at ``name`` answers or is gone: only this call waits for a frozen one.

    This client leaves last: some servers reset without clients.
    """
    with socket.socket(socket.AF_UNIX) as asking:
        with contextlib.suppress(OSError):
            asking.connect(address((name or os.environ.get("DISPLAY", "")).partition(".")[0]))
            asking.sendall(SETUP)
            asking.recv(1)
        yield


@dataclass(frozen=True, slots=True)
class Position:
    """Where in its conversation with an X server a connection is: what its client counts."""

    base: int
    serial: int
    last_id: int
    ids: Mapping[int, Any]


def position(connection: display.Display) -> Position:
    """Return where a connection is, once nothing is on its way; events that were waiting are dropped."""
    connection.sync()
    own: Any = connection.display
    own.event_queue.clear()
    return Position(own.info.resource_id_base, own.request_serial, own.last_resource_id, dict(own.resource_ids))


def reposition(connection: display.Display, descriptor: int, position: Position) -> None:
    """Go on from ``position`` with a server that has the other end of ``descriptor``, which is closed."""
    own: Any = connection.display
    os.dup2(descriptor, own.socket.fileno(), inheritable=False)
    os.close(descriptor)
    own.info._data["resource_id_base"] = position.base
    own.request_serial, own.last_resource_id = position.serial, position.last_id
    own.resource_ids = dict(position.ids)
    own.data_send = own.data_recv = b""
    own.recv_packet_len = 0
    for waiting in (own.event_queue, own.sent_requests, own.request_queue):
        waiting.clear()


class ReportingLoss:
    """A context that raises DisplayLost where the connection to the X server at ``name`` turns out to be closed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, problem: BaseException | None, where: object) -> None:
        if isinstance(problem, CONNECTION_ERRORS):
            raise DisplayLost(f"the X server at {self._name} went away: {problem}") from problem


def send(connection: display.Display, *packed: bytes) -> None:
    """Send all requests that were made, then those that are packed. It blocks while the server is frozen.

    For the connection's only thread.

    python-xlib's ``flush`` takes four times as long, keeps in memory what a frozen server doesn't take, and reads
    events, of which a ``select`` on the connection would know nothing.
    """
    own: Any = connection.display
    own.check_for_error()
    data = own.data_send + b"".join(request._binary for request, _ in own.request_queue)
    own.sent_requests += [request for request, waits in own.request_queue if waits]
    own.request_queue.clear()
    own.data_send = b""
    own.request_serial = (own.request_serial + len(packed)) % 65536
    if sent := b"".join((data, *packed)):
        own.socket.sendall(sent)


@contextlib.contextmanager
def closing_on_error(connection: display.Display) -> Generator[None]:
    """Close the connection if the body, which sets up its owner, raises."""
    try:
        yield
    except BaseException:
        hang_up(connection)
        raise


def hang_up(connection: display.Display) -> None:
    connection.display.socket.close()


def abort(connection: display.Display) -> None:
    """Cut the connection: what is blocked in it, on another thread, raises."""
    with contextlib.suppress(OSError):
        connection.display.socket.shutdown(socket.SHUT_RDWR)


def _close_sockets(problem: BaseException | None) -> None:
    """Close the sockets of a failed connection, which python-xlib leaves open and only its frames still refer to."""
    while problem is not None:
        for frame, _ in traceback.walk_tb(problem.__traceback__):
            for value in frame.f_locals.values():
                # Not by getattr: what isn't complete yet looks for its missing attributes without end.
                leaked = value if isinstance(value, socket.socket) else getattr(value, "__dict__", {}).get("socket")
                if isinstance(leaked, socket.socket):
                    leaked.close()
        problem = problem.__context__


@contextlib.contextmanager
def _environment_variable(name: str, value: Path | None) -> Generator[None]:
    before = os.environ.get(name)
    if value is not None:
        os.environ[name] = str(value)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before
