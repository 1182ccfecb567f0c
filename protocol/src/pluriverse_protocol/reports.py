r"""What a cooperating program and the daemon say to each other: JSON lines on the Unix socket ``PLURIVERSE_SOCKET``.

The program *reports* (``{"report": "reward", "episode": 3, "reward": 1.0}``), the daemon *requests*
(``{"request": "reset", "episode": 4, "env": "…", "seed": 7, "fps": 60.0}``). Each report names the episode that it
belongs to, so one that crosses a reset on its way is never counted for the wrong episode. Times are UNIX seconds.
"""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast

from .errors import LocalProtocolError, MalformedReport
from .limits import MAX_REPORT_BYTES

JSON = Any  # any value that JSON can carry


@dataclass(frozen=True, slots=True)
class Ready:
    """The episode's first frame is on the screen; it runs from now on, at ``fps`` frames a second if that is known.

    ``joystick`` asks for the agent's joystick events; without it they are refused on the program's behalf.
    """

    episode: int
    fps: float | None = None
    joystick: bool = False


@dataclass(frozen=True, slots=True)
class Reward:
    """The program earned ``reward``; ``at`` is the clock when the frame that earned it was on the screen."""

    episode: int
    reward: float
    at: float | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """The episode is over, with what its last frame earned. An outcome is terminated, a limit truncated."""

    episode: int
    reward: float = 0.0
    terminated: bool = True
    truncated: bool = False
    reason: str = ""
    at: float | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """A text observation."""

    episode: int
    text: str


@dataclass(frozen=True, slots=True)
class Observation:
    """A structured observation: any JSON."""

    episode: int
    observation: JSON


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame was drawn; counts are since the episode began."""

    episode: int
    frames: int
    late_frames: int = 0
    at: float | None = None


@dataclass(frozen=True, slots=True)
class Reset:
    """Begin an episode. The program answers with ``Ready`` once its first frame is on the screen."""

    episode: int
    env: str
    seed: int
    fps: float


@dataclass(frozen=True, slots=True)
class Stop:
    """End in good order."""


@dataclass(frozen=True, slots=True)
class Joystick:
    """One joystick event of the agent: a name as ``JoystickAxisXEvent``, and its value."""

    event: str
    value: float


@dataclass(frozen=True, slots=True)
class Delivered:
    """The reward message of a step of a Sync environment was sent at ``sent_at``: paint a later clock soon."""

    episode: int
    sent_at: float


Report = Ready | Reward | Done | Text | Observation | Frame
Request = Reset | Stop | Joystick | Delivered

REPORTS: Final[dict[str, type[Report]]] = {
    "ready": Ready,
    "reward": Reward,
    "done": Done,
    "text": Text,
    "observation": Observation,
    "frame": Frame,
}
REQUESTS: Final[dict[str, type[Request]]] = {
    "reset": Reset,
    "stop": Stop,
    "joystick": Joystick,
    "delivered": Delivered,
}
_NAMES: Final = {kind: name for table in (REPORTS, REQUESTS) for name, kind in table.items()}
_M = TypeVar("_M")


def encode_line(message: Report | Request) -> bytes:
    """The message as one line of JSON, with its newline.

    Raises:
        LocalProtocolError: it holds what JSON can't carry (NaN, infinity, an object), or is over MAX_REPORT_BYTES.
    """
    key = "report" if type(message) in REPORTS.values() else "request"
    fields = {field.name: getattr(message, field.name) for field in dataclasses.fields(message)}
    document = {key: _NAMES[type(message)], **{name: value for name, value in fields.items() if value is not None}}
    try:
        line = json.dumps(document, separators=(",", ":"), allow_nan=False).encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise LocalProtocolError(f"{_NAMES[type(message)]} can't be sent as JSON: {error}") from error
    if len(line) > MAX_REPORT_BYTES:
        raise LocalProtocolError(f"{_NAMES[type(message)]} is {len(line)} bytes long, over {MAX_REPORT_BYTES}")
    return line


def decode_report(line: bytes) -> Report:
    """A line of the program's.

    Raises:
        MalformedReport: it isn't a report; the message says which key was wrong, and what was expected.
    """
    return _decode(line, "report", REPORTS)


def decode_request(line: bytes) -> Request:
    """A line of the daemon's.

    Raises:
        MalformedReport: it isn't a request.
    """
    return _decode(line, "request", REQUESTS)


def _decode(line: bytes, key: str, table: dict[str, type[_M]]) -> _M:
    if len(line) > MAX_REPORT_BYTES:
        raise MalformedReport(f"a line of {len(line)} bytes, over {MAX_REPORT_BYTES}")
    try:
        document = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise MalformedReport(f"not a line of JSON: {error}") from None
    if not isinstance(document, dict):
        raise MalformedReport(f"expected a JSON object, got {type(document).__name__}")
    values = cast("dict[str, JSON]", document)
    name = values.get(key)
    if not isinstance(name, str) or name not in table:
        raise MalformedReport(f"{key!r} is {name!r}, expected one of {', '.join(table)}")
    kind = table[name]
    arguments: dict[str, JSON] = {}
    for field in dataclasses.fields(cast("Any", kind)):
        if field.name in values:
            arguments[field.name] = _check(name, field.name, str(field.type), values[field.name])
        elif field.default is dataclasses.MISSING:
            raise MalformedReport(f"{name} lacks {field.name!r}")
    return kind(**arguments)


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _check(name: str, key: str, expected: str, value: JSON) -> JSON:
    """The value, if it has the type that the dataclass' annotation names."""
    if value is None and expected.endswith("| None"):
        return None
    match expected.removesuffix(" | None"):
        case "int" if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63:
            return value
        case "float" if isinstance(value, int | float) and not isinstance(value, bool):
            number = _finite(value)
            if number is not None:
                return number
        case "bool" if isinstance(value, bool):
            return value
        case "str" if isinstance(value, str):
            return value
        case "JSON":
            return value
        case _:
            pass
    raise MalformedReport(f"{name}'s {key!r} is {value!r:.80}, expected {expected}")


def _finite(value: float) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
