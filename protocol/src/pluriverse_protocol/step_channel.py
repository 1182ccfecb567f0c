"""Messages with pixels behind them, as remotes send them in lockstep. Pure.

The agent opens another WebSocket, at ``PATH``, on which there are only steps. What it sends are the text messages of
``codec``; what it gets are binary ones: four bytes with the length of such a message, the message, and the pixels, rows
of unsigned bytes from the top; then sound, where it is asked for. Steps and their answers, which are nearly all of
them, are written and read in one go.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from .codec import Envelope, decode_from_server
from .errors import MalformedEnvelope
from .events import Event
from .kinds import MessageIdentifier, Time
from .limits import MAX_EPISODE_ID, MAX_VIEW_SIDE
from .messages import AgentStep, Headers, Pictured, ServerMessage, StepReply, method_of
from .sound import FRAME_BYTES
from .strict_json import MAX_DEPTH, MAX_DIGITS

PATH: Final = "/step"

# The query parameter that selects the stepped environment of a remote; by default the remote's own, 0.
SLOT: Final = "slot"

# Those that select the pictures, and sound; see ``View``.
CROP: Final = "crop"
SIZE: Final = "size"
GREY: Final = "grey"
AUDIO: Final = "audio"
CHANGES: Final = "changes"

_LENGTH: Final = struct.Struct("!I")

# What comes with a step channel that a process is handed: the slot, and the view, zeros where there is none.
_HANDOVER: Final = struct.Struct("!B6H???")
HANDOVER_BYTES: Final = _HANDOVER.size

_NUMBERS: Final = re.compile(r"\d{1,5}(,\d{1,5})*", re.ASCII)


@dataclass(frozen=True, slots=True)
class View:
    """What an agent wants of each picture, and beside it.

    ``crop`` is (x, y, width, height) in pixels of the whole picture, beyond which all is black; None: all of it.
    ``size`` is (height, width) to scale to by area means; None: as it is. ``grey``: one channel, the luma of BT.601.
    ``audio``: what was played in the step. ``changes``: of a step no more than the rows that differ may come.
    """

    crop: tuple[int, int, int, int] | None = None
    size: tuple[int, int] | None = None
    grey: bool = False
    audio: bool = False
    changes: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether pictures are wanted as they are."""
        return self.crop is None and self.size is None and not self.grey

    def query(self) -> dict[str, str]:
        query: dict[str, str] = {}
        if self.crop is not None:
            query[CROP] = ",".join(map(str, self.crop))
        if self.size is not None:
            query[SIZE] = ",".join(map(str, self.size))
        flags = {GREY: self.grey, AUDIO: self.audio, CHANGES: self.changes}
        return query | {name: "1" for name, is_set in flags.items() if is_set}


def parse_view(query: Mapping[str, str]) -> View | None:
    """Return what a step channel's address asks of pictures; None: all of them, as they are."""
    crop: Any = _numbers(query, CROP, ("x", "y", "width", "height"), (0, 0, 1, 1))
    size: Any = _numbers(query, SIZE, ("height", "width"), (1, 1))
    view = View(crop, size, _flag(query, GREY), _flag(query, AUDIO), _flag(query, CHANGES))
    return None if view == View() else view


def _flag(query: Mapping[str, str], name: str) -> bool:
    flag = query.get(name, "0")
    if flag not in ("0", "1"):
        raise ValueError(f"{name} is {flag!r:.80}; expected 0 or 1")
    return flag == "1"


def _numbers(
    query: Mapping[str, str], name: str, names: tuple[str, ...], least: tuple[int, ...]
) -> tuple[int, ...] | None:
    text = query.get(name)
    if text is None:
        return None
    numbers = tuple(map(int, text.split(","))) if _NUMBERS.fullmatch(text) else ()
    if len(numbers) != len(least) or not all(
        low <= number <= MAX_VIEW_SIDE for low, number in zip(least, numbers, strict=True)
    ):
        raise ValueError(
            f"{name} is {text!r:.80}; expected {', '.join(names)} in pixels, each at most "
            f"{MAX_VIEW_SIDE}, and sides of at least 1"
        )
    return numbers


def pack_handover(slot: int, view: View | None) -> bytes:
    """Return what goes with a step channel to the process that steps ``slot``."""
    view = view or View()
    return _HANDOVER.pack(
        slot, *(view.crop or (0, 0, 0, 0)), *(view.size or (0, 0)), view.grey, view.audio, view.changes
    )


def unpack_handover(data: bytes) -> tuple[int, View | None]:
    slot, x, y, width, height, down, across, *flags = _HANDOVER.unpack(data)
    view = View((x, y, width, height) if width else None, (down, across) if down else None, *flags)
    return slot, None if view == View() else view


class _StepHeaders(Struct, forbid_unknown_fields=True, omit_defaults=True):
    message_id: MessageIdentifier
    sent_at: Time
    episode_id: Annotated[str, Meta(pattern=rf"^[0-9]{{1,{len(str(MAX_EPISODE_ID))}}}\Z")]
    parent_message_id: MessageIdentifier | None = None
    parent_runtime: Time | None = None


class _StepBody(Struct):
    n: int
    frames: int
    events: Sequence[Event]


class _Step(Struct):
    method: str
    headers: _StepHeaders
    body: _StepBody


class _Answer(Struct):
    method: Literal["v0.reply.agent.step"]
    headers: _StepHeaders
    body: StepReply


_STEP: Final = method_of(AgentStep)
_ENCODE: Final = msgspec.json.Encoder().encode
_DECODE: Final = msgspec.json.Decoder(_Answer).decode
_TOO_LONG: Final = re.compile(rb"[0-9]{%d}" % (MAX_DIGITS + 1))


def encode_step(
    message_id: int, sent_at: float, episode_id: int, n: int, frames: int, events: Sequence[Event]
) -> bytes:
    """Return the text frame of an ``AgentStep``, as ``codec.encode`` does; that its parts fit isn't checked."""
    return _ENCODE(_Step(_STEP, _StepHeaders(message_id, sent_at, str(episode_id)), _StepBody(n, frames, events)))


def pack(text: str, pixels: bytes | memoryview = b"") -> bytes:
    """Return the binary message of an encoded message and its pixels."""
    data = text.encode()
    return b"".join((_LENGTH.pack(len(data)), data, pixels))


def runs_of(reply: StepReply) -> list[tuple[int, int]]:
    """Return the runs of rows that a reply has, the first of each and how many they are."""
    numbers = reply.rows or ()
    runs = list(zip(numbers[::2], numbers[1::2], strict=False))
    if len(numbers) % 2 or any(first + count > reply.frame[0] for first, count in runs):
        raise MalformedEnvelope(f"'rows' is {numbers!r:.80}, expected pairs within {reply.frame[0]} rows")
    return runs


def unpack(data: bytes | memoryview) -> tuple[Envelope[ServerMessage], memoryview]:
    """Return the message of a binary message, and the pixels and sound behind it."""
    if len(data) < _LENGTH.size:
        raise MalformedEnvelope(f"a binary message of {len(data)} bytes, expected the length of a text first")
    (length,) = _LENGTH.unpack_from(data)
    start = _LENGTH.size + length
    if start > len(data):
        raise MalformedEnvelope(f"a text of {length} bytes in a binary message of {len(data)}")
    text, rest = bytes(data[_LENGTH.size : start]), memoryview(data)[start:]
    try:
        answer = _DECODE(text)
    except (ValueError, RecursionError):
        answer = None
    # The caller reports other or invalid messages.
    if answer is None or text.count(b"[") + text.count(b"{") > MAX_DEPTH or _TOO_LONG.search(text):
        envelope = decode_from_server(text)
    else:
        told = answer.headers
        others = told.parent_message_id, told.parent_runtime
        envelope = Envelope(answer.body, Headers(told.message_id, told.sent_at, int(told.episode_id), *others))
    message = envelope.message
    expected = prod(message.frame) if isinstance(message, Pictured) else 0
    if isinstance(message, StepReply):
        if message.rows is not None:
            expected = sum(count for _, count in runs_of(message)) * prod(message.frame[1:])
        expected += FRAME_BYTES * (message.sound or 0)
    if len(rest) != expected:
        raise MalformedEnvelope(f"{len(rest)} bytes of pixels and sound, expected {expected}")
    return envelope, rest
