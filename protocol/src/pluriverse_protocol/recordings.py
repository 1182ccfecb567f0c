r"""A recording: a remote's pictures, reports and input events on one clock. Pure; compressed elsewhere.

A stream of records, each ``kind, at, length`` and that many bytes; numbers are big-endian, as in RFB. ``at`` is seconds
since the recording began, and never less than in the record before.

====  ===============  ================================================================================================
kind  what             its bytes
====  ===============  ================================================================================================
H     ``Header``       the first record and no other: JSON
U     ``Update``       a FramebufferUpdate of RFB, in Raw rectangles of 32-bit little-endian BGRX
S     ``Said``         JSON: a report as programs say it, or ``{"event": "begin", "episode", "env", "seed", "fps"}`` and
                       ``{"event": "end", "episode", "reward", "terminated", "truncated", "reason"}`` of an episode;
                       the former also has its ``spaces`` and ``options``, where the environment declares them; the
                       latter the ``evidence`` that a task was graded by
K     ``Input``        a key: its keysym in 32 bits, and whether it went down, in 8
P     ``Input``        the pointer: x and y in 16 bits each, and the buttons that are held, in 8, or 16 with the ninth
M     ``Input``        the pointer's movement: dx and dy in 16 bits each, signed, and the buttons that are held, in 16
J     ``Input``        a gamepad: the value in 64 bits, of IEEE 754, and the event's name in ASCII
====  ===============  ================================================================================================

The picture is black before the first update.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from msgspec import Meta

from .env_spaces import Spaces
from .errors import LocalProtocolError, RemoteProtocolError
from .events import (
    MAX_BUTTONMASK,
    MAX_JOYSTICK_CHARS,
    Event,
    JoystickEvent,
    KeyEvent,
    PointerEvent,
    RelativePointerEvent,
    SubmitEvent,
    checked,
)
from .kinds import Box, Count, EnvId, Fps, JsonObject, Number, String, always, read, write
from .limits import MAX_KEYSYM, MAX_REPORT_BYTES
from .rfb.raw_updates import max_bytes, rectangles
from .strict_json import dump, parse_object

# Readers take no other.
FORMAT: Final = 1

# No screen of a remote is larger; it bounds what a reader has to keep at once, at 268 MB.
MAX_SIDE: Final = 8192

# A day. Sessions are minutes.
MAX_SECONDS: Final = 86_400.0

# Its regions are what is long in it, at most one for each source of a manifest.
MAX_HEADER_BYTES: Final = 16 * 1024
MAX_REGIONS: Final = 64

_RECORD: Final = struct.Struct(">cdI")
_KEY: Final = struct.Struct(">IB")
_POINTER: Final = struct.Struct(">HHB")
_MOTION: Final = struct.Struct(">hhH")
_JOYSTICK: Final = struct.Struct(">d")
_MAX_JOYSTICK_BYTES: Final = _JOYSTICK.size + MAX_JOYSTICK_CHARS
# With the ninth button, which the mask above has no room for.
_LONG_POINTER: Final = struct.Struct(">HHH")
_POINTER_MASK: Final = 0xFF

# What was read is dropped from the buffer's beginning once it is as long as this.
_DROP_BYTES: Final = 1024 * 1024


class MalformedRecording(RemoteProtocolError):
    """A record that doesn't fit. ``record`` is its number (the header is 0), ``offset`` where it begins, in bytes."""

    def __init__(self, message: str, record: int, offset: int) -> None:
        super().__init__(f"record {record}, at byte {offset}: {message}")
        self.record = record
        self.offset = offset


class TruncatedRecording(MalformedRecording):
    """The recording ends within a record, as it does when its writer is killed."""


Side = Annotated[int, Meta(ge=1, le=MAX_SIDE, description=f"integer of 1 to {MAX_SIDE}")]
Regions = Annotated[
    tuple[Box, ...],
    Meta(max_length=MAX_REGIONS, description=f"list of at most {MAX_REGIONS} lists of x, y, width and height"),
]


class Header(JsonObject, frozen=True):
    """The runtime and its version, the environment at the beginning, the screen's size in pixels.

    ``began`` is UNIX seconds. With ``regions`` only these are exact, and the rest of the picture is seldom updated.
    """

    runtime: String
    version: String
    env_id: EnvId
    width: Side
    height: Side
    fps: Fps
    began: Number
    regions: Regions = always(())
    format: Count = always(FORMAT)


@dataclass(frozen=True, slots=True)
class Update:
    """The picture has changed: a FramebufferUpdate, whole, as ``rfb.raw_updates.raw_update`` makes it."""

    at: float
    message: bytes


@dataclass(frozen=True, slots=True)
class Said:
    """A report, or an episode's event; see the module. ``text`` is its JSON, where that has been made already."""

    at: float
    said: dict[str, Any]
    text: str | None = field(default=None, repr=False, compare=False)


def begins(
    episode: int,
    env_id: str,
    seed: int | None,
    fps: float,
    spaces: Spaces | None = None,
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the report of an episode's beginning."""
    maybe = {"seed": seed, "options": dict(options or {}) or None, "spaces": spaces and spaces.as_json()}
    given = {name: value for name, value in maybe.items() if value is not None}
    return {"event": "begin", "episode": episode, "env": env_id, "fps": fps, **given}


def ends(episode: int, reward: float, *, terminated: bool, reason: str, evidence: str | None = None) -> dict[str, Any]:
    """Return the report of an episode's end; ``reward`` is its sum."""
    how = {"terminated": terminated, "truncated": not terminated, "reason": reason}
    kept = {} if evidence is None else {"evidence": evidence}
    return {"event": "end", "episode": episode, "reward": reward, **how, **kept}


@dataclass(frozen=True, slots=True)
class Input:
    """A key went down or up, the pointer's position or buttons changed, or an input of a gamepad."""

    at: float
    event: Event


Record = Update | Said | Input


class RecordingWriter:
    """Turns records into the bytes of a recording; refuses those that a reader would refuse."""

    def __init__(self, header: Header) -> None:
        self.header = header
        self._last = 0.0

    def begin(self) -> bytes:
        return _frame(b"H", 0.0, _header_bytes(self.header))

    def write(self, record: Record) -> bytes:
        try:
            kind, payload = _payload(record)
            _check_time(record.at, self._last)
            _check_size(kind, payload, self.header)
            if not isinstance(record, Said):  # whose JSON was checked when it was made
                _parse(kind, record.at, payload, self.header)
        except (ValueError, struct.error) as error:
            raise LocalProtocolError(f"{type(record).__name__} can't be recorded: {error}") from error
        self._last = record.at
        return _frame(kind, record.at, payload)


class RecordingReader:
    """Turns bytes, as they come, into the records of a recording.

    Call ``receive``, then ``next_record`` until it is None; and ``end`` once there are no more bytes.
    """

    def __init__(self) -> None:
        self.header: Header | None = None
        self._buffer = bytearray()
        self._start = 0
        self._dropped = 0
        self._records = 0
        self._last = 0.0
        self._broken: MalformedRecording | None = None

    def receive(self, data: bytes) -> None:
        if self._start > _DROP_BYTES:
            del self._buffer[: self._start]
            self._dropped += self._start
            self._start = 0
        self._buffer += data

    def next_record(self) -> Record | None:
        """Return the next record; None if it is incomplete so far. ``header`` is set before the first."""
        while (framed := self._unframe()) is not None:
            kind, at, payload = framed
            try:
                record = self._parse(kind, at, payload)
            except ValueError as error:
                raise self.damaged(str(error)) from None
            self._last = at
            self._start += _RECORD.size + len(payload)
            self._records += 1
            if record is not None:
                return record
        return None

    def damaged(self, message: str) -> MalformedRecording:
        """Return the error to raise where the compression is damaged; later calls raise it too."""
        self._broken = MalformedRecording(message, self._records, self._offset)
        return self._broken

    def end(self, *, cut: bool = False) -> None:
        """Check that the recording is complete. ``cut``: the compressed file ended early."""
        if self._broken is not None:
            raise self._broken
        rest = len(self._buffer) - self._start
        if rest or cut or self.header is None:
            what = "header" if self.header is None else "record"
            raise TruncatedRecording(f"the recording ends {rest} bytes into its {what}", self._records, self._offset)

    @property
    def _offset(self) -> int:
        return self._dropped + self._start

    def _parse(self, kind: bytes, at: float, payload: bytes) -> Record | None:
        _check_time(at, self._last)
        if self.header is None:
            self.header = _parse_header(kind, payload)
            return None
        return _parse(kind, at, payload, self.header)

    def _unframe(self) -> tuple[bytes, float, bytes] | None:
        if self._broken is not None:
            raise self._broken
        if len(self._buffer) - self._start < _RECORD.size:
            return None
        kind, at, length = _RECORD.unpack_from(self._buffer, self._start)
        limit = _limit(kind, self.header)
        if length > limit:
            # With a wrong length the reader would wait for bytes that never come.
            raise self.damaged(f"a record {kind!r} of {length} bytes, expected at most {limit}")
        start = self._start + _RECORD.size
        if len(self._buffer) < start + length:
            return None
        return kind, at, bytes(memoryview(self._buffer)[start : start + length])


def _frame(kind: bytes, at: float, payload: bytes) -> bytes:
    return _RECORD.pack(kind, at, len(payload)) + payload


def _limit(kind: bytes, header: Header | None) -> int:
    if header is None:
        return MAX_HEADER_BYTES
    limits = {
        b"U": max_bytes(header.width, header.height),
        b"S": MAX_REPORT_BYTES,
        b"K": _KEY.size,
        b"P": _LONG_POINTER.size,
        b"M": _MOTION.size,
        b"J": _MAX_JOYSTICK_BYTES,
    }
    return limits.get(kind, 0)


def _check_time(at: float, last: float) -> None:
    if not (math.isfinite(at) and last <= at <= MAX_SECONDS):
        raise ValueError(f"its time is {at:g} s, expected {last:g} (that of the record before) to {MAX_SECONDS:g}")


def _payload(record: Record) -> tuple[bytes, bytes]:
    match record:
        case Update():
            return b"U", record.message
        case Said():
            return b"S", (dump(record.said) if record.text is None else record.text).encode()
        case Input():
            pass
    match record.event:
        case KeyEvent(keysym, down):
            return b"K", _KEY.pack(keysym, down)
        case PointerEvent(x, y, buttonmask):
            layout = _POINTER if buttonmask <= _POINTER_MASK else _LONG_POINTER
            return b"P", layout.pack(x, y, _buttons(buttonmask))
        case RelativePointerEvent(dx, dy, buttonmask):
            return b"M", _MOTION.pack(dx, dy, buttonmask)
        case JoystickEvent(name, value):
            return b"J", _JOYSTICK.pack(value) + name.encode()
        case SubmitEvent():
            return b"D", b""


def _check_size(kind: bytes, payload: bytes, header: Header) -> None:
    if len(payload) > _limit(kind, header):
        raise ValueError(f"{len(payload)} bytes, expected at most {_limit(kind, header)}")


def _parse(kind: bytes, at: float, payload: bytes, header: Header) -> Record:
    match kind:
        case b"U":
            rectangles(payload, header.width, header.height)
            return Update(at, payload)
        case b"S":
            return Said(at, parse_object(payload))
        case b"K" if len(payload) == _KEY.size:
            keysym, down = _KEY.unpack(payload)
            if not 0 < keysym <= MAX_KEYSYM or down > 1:
                raise ValueError(f"a key of keysym {keysym:#x} and state {down}")
            return Input(at, KeyEvent(keysym, bool(down)))
        case b"P" if len(payload) in (_POINTER.size, _LONG_POINTER.size):
            x, y, buttonmask = (_POINTER if len(payload) == _POINTER.size else _LONG_POINTER).unpack(payload)
            return Input(at, PointerEvent(x, y, _buttons(buttonmask)))
        case b"M" if len(payload) == _MOTION.size:
            return Input(at, checked(RelativePointerEvent(*_MOTION.unpack(payload))))
        case b"D" if not payload:
            return Input(at, SubmitEvent())
        case b"J" if len(payload) > _JOYSTICK.size:
            name = payload[_JOYSTICK.size :].decode("ascii")
            return Input(at, checked(JoystickEvent(name, *_JOYSTICK.unpack_from(payload))))
        case _:
            raise ValueError(f"{len(payload)} bytes of the kind {kind!r}, expected one of U, S, K, P, M, J and D")


def _buttons(mask: int) -> int:
    if mask > MAX_BUTTONMASK:
        raise ValueError(f"a pointer with the buttons {mask:#x}, at most {MAX_BUTTONMASK:#x}")
    return mask


def _header_bytes(header: Header) -> bytes:
    try:
        payload = dump(write(header)).encode()
        _parse_header(b"H", payload)
    except ValueError as error:
        raise LocalProtocolError(f"the header can't be recorded: {error}") from error
    return payload


def _parse_header(kind: bytes, payload: bytes) -> Header:
    if kind != b"H":
        raise ValueError(f"the kind {kind!r}, expected a header: not a recording")
    values = parse_object(payload)
    if values.get("format") != FORMAT:
        raise ValueError(
            f"its format is {values.get('format')!r:.80}, expected {FORMAT}; it was written by a later version"
        )
    if len(payload) > MAX_HEADER_BYTES:
        raise ValueError(f"a header of {len(payload)} bytes, over {MAX_HEADER_BYTES}")
    header = read(Header, values)
    for x, y, width, height in header.regions:
        if x + width > header.width or y + height > header.height:
            raise ValueError(f"the region {width}x{height} at ({x}, {y}) isn't on the screen")
    return header
