"""The kinds of values that messages carry, and how messages are read from JSON's values and written as them.

A message is a frozen Struct of msgspec whose fields are annotated with these kinds: it is described in one place.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar, get_args

import msgspec
from msgspec import Meta, Struct

from . import events, limits

_M = TypeVar("_M")
_T = TypeVar("_T")

CLOCKS: Final = ("realtime", "lockstep")

# What a 64-bit integer of another language holds, either way.
_MAX_INTEGER: Final = 2**63 - 1

# Neither JSON's NaN nor an infinity.
_MAX_NUMBER: Final = sys.float_info.max

_MISSING: Final = re.compile(r"Object missing required field `(\w+)`")

# What is wrong, and where, such as ".discrete[1].name"; and the first step of that.
_MISFIT: Final = re.compile(r"(.*) - at (`key` in )?`\$(.*)`", re.DOTALL)
_STEP: Final = re.compile(r"\.(\w+)|\[(\d+)\]")

if TYPE_CHECKING:
    Event = events.Event
    Channels = int
else:
    Event = events.AnyEvent
    Channels = Literal[1, 3]


def _integer(low: int, high: int) -> Meta:
    return Meta(ge=low, le=high, description=f"integer of {low} to {high}")


def _string(high: int) -> Meta:
    return Meta(min_length=1, max_length=high, description=f"string of 1 to {high} characters")


def _keysyms(limit: int) -> Meta:
    return Meta(max_length=limit, description=f"list of at most {limit} different keysyms")


_Coordinate = Annotated[int, Meta(ge=0, le=limits.MAX_COORDINATE)]
_Length = Annotated[int, Meta(ge=1, le=limits.MAX_COORDINATE)]
_Box = tuple[_Coordinate, _Coordinate, _Length, _Length]

Clock = Annotated[Literal["realtime", "lockstep"], Meta(description='"realtime" or "lockstep"')]
StepFrames = Annotated[int, _integer(1, limits.MAX_STEP_FRAMES)]
PictureShape = Annotated[
    tuple[_Length, _Length, Channels], Meta(description="list of height, width and 1 or 3 channels")
]
Rows = Annotated[tuple[_Coordinate, ...], Meta(description="list of each run's first row and its number of rows")]
Number = Annotated[float, Meta(ge=-_MAX_NUMBER, le=_MAX_NUMBER, description="number")]
Fps = Annotated[
    float,
    Meta(ge=limits.MIN_FPS, le=limits.MAX_FPS, description=f"number of {limits.MIN_FPS:g} to {limits.MAX_FPS:g}"),
]
Time = Annotated[
    float,
    Meta(
        ge=-limits.MAX_TIME_S,
        le=limits.MAX_TIME_S,
        description=f"number of seconds, at most {limits.MAX_TIME_S:g}",
    ),
]
Flag = Annotated[bool, Meta(description="boolean")]
String = Annotated[str, Meta(description="string")]
EnvId = Annotated[str, _string(limits.MAX_ENV_ID_CHARS)]
EnvState = Annotated[Literal["resetting", "running"], Meta(description='"resetting" or "running"')]
Seed = Annotated[int, Meta(ge=0, le=limits.MAX_SEED, description="integer of 0 to 2⁶³-1")]
Count = Annotated[int, Meta(ge=0, le=_MAX_INTEGER, description="integer of 0 or more")]
SnapshotName = Annotated[str, _string(limits.MAX_SNAPSHOT_NAME_CHARS)]
Handle = Annotated[Count | SnapshotName, Meta(description="integer, or the name of a snapshot that has one")]
Handles = Annotated[
    tuple[Handle, ...],
    Meta(max_length=limits.MAX_SNAPSHOTS, description=f"list of at most {limits.MAX_SNAPSHOTS} handles"),
]
MessageIdentifier = Annotated[
    Annotated[int, Meta(ge=-_MAX_INTEGER, le=_MAX_INTEGER)]
    | Annotated[str, Meta(max_length=limits.MAX_MESSAGE_ID_CHARS)],
    Meta(description=f"integer, or string of at most {limits.MAX_MESSAGE_ID_CHARS}"),
]
EpisodeId = Annotated[int, Meta(ge=0, le=limits.MAX_EPISODE_ID, description="decimal integer in a string")]
SlotNumbers = Annotated[
    tuple[Count, ...], Meta(max_length=limits.MAX_SLOTS, description=f"list of at most {limits.MAX_SLOTS} slots")
]
Object = Annotated[dict[str, Any], Meta(description="object")]
Names = Annotated[tuple[str, ...], Meta(description="list of strings")]
Events = Annotated[
    tuple[Event, ...],
    Meta(max_length=limits.MAX_EVENTS_PER_ACTION, description=f"list of at most {limits.MAX_EVENTS_PER_ACTION} events"),
]
Box = Annotated[_Box, Meta(description="list of x, y, width and height in pixels")]
Side = Annotated[int, _integer(0, limits.MAX_SIDE)]
Picture = Annotated[_Box, Meta(description="list of x, y, width and height on a screen of RFB")]
ChoiceName = Annotated[str, _string(limits.MAX_CHOICE_NAME_CHARS)]
Key = Annotated[int, Meta(ge=1, le=limits.MAX_KEYSYM, description="keysym")]
Keys = Annotated[tuple[Key, ...], _keysyms(limits.MAX_KEYS)]
KeysOfChoice = Annotated[tuple[Key, ...], _keysyms(limits.MAX_KEYS_OF_CHOICE)]
Buttons = Annotated[int, _integer(1, events.BUTTONS)]
Pads = Annotated[int, _integer(0, limits.MAX_PADS)]
Shape = Annotated[
    tuple[Annotated[int, Meta(ge=1)], ...],
    Meta(
        min_length=1,
        max_length=limits.MAX_OBSERVATION_DIMENSIONS,
        description=f"list of 1 to {limits.MAX_OBSERVATION_DIMENSIONS} sizes, "
        f"of at most {limits.MAX_OBSERVATION_NUMBERS} numbers in all",
    ),
]
Json = Annotated[Any, Meta(description="any JSON")]


class JsonObject(Struct, frozen=True, omit_defaults=True):
    """What is sent in one piece. Fields whose default is None are left out where they are None."""


def always(default: _T) -> _T:
    """Return the default of a field that is written even where it has it."""
    return msgspec.field(default_factory=lambda: default)


def describe(kind: Any) -> str:
    """Return a field's kind as the documentation describes it."""
    return next(meta.description for part in (kind, *get_args(kind)) for meta in getattr(part, "__metadata__", ()))


def expect(condition: bool, message: str) -> None:
    """Raise ValueError with ``message`` unless ``condition`` holds."""
    if not condition:
        raise ValueError(message)


def expect_fitting(message: Struct, key: str, fits: bool) -> None:
    """Raise ValueError unless a field satisfies the constraints that its kind can't express."""
    if not fits:
        raise ValueError(_misfit(type(message), key, getattr(message, key)))


def expect_on_screen(message: Struct, picture: tuple[int, int, int, int] | None) -> None:
    x, y, width, height = picture or (0, 0, 0, 0)
    fits = max(x + width, y + height) <= limits.MAX_SIDE and width * height <= limits.MAX_PIXELS
    expect_fitting(message, "picture", fits)


def read(kind: type[_M], value: object) -> _M:
    """Return what a value of JSON stands for; keys that aren't known are passed over. ValueError: it doesn't fit."""
    try:
        return msgspec.convert(value, kind, dec_hook=_read_event)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        misfit = _MISFIT.fullmatch(str(error))
        what, of_key, place = misfit.groups() if misfit else (str(error), None, "")
        what = f"a key: {what}" if of_key else what
        raise ValueError(_why(kind, value, what, place)) from None


def write(message: Struct) -> dict[str, Any]:
    """Return the JSON object of a message, which must fit as if it were read."""
    try:
        # Left as they are, bytes are nothing that JSON has.
        values = msgspec.to_builtins(message, builtin_types=(bytes,), enc_hook=_plain)
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    # What was read has floats where a caller gave integers for them.
    return msgspec.to_builtins(read(type(message), values), builtin_types=(bytes,))


def _read_event(_: type[Any], value: object) -> events.Event:
    return events.from_wire(value)


def _plain(value: object) -> Any:
    """Return a number or string of a class of its own, such as NumPy's, as one of Python's."""
    for kind in (float, int, str):
        if isinstance(value, kind):
            return kind(value)
    raise TypeError(f"{value!r:.80} isn't a JSON value")


def _why(kind: Any, value: Any, what: str, place: str) -> str:
    """Describe what at ``place`` in a value isn't of its kind, from the outside in."""
    step = _STEP.match(place)
    if step is None:
        if place:
            return f"{place} {what:.240}"
        if missing := _MISSING.fullmatch(what):
            return f"{missing[1]!r} is missing, expected {_expected(kind, missing[1])}"
        no_object = what.startswith("Expected `object") and ", got" in what
        return f"expected an object, got {value!r:.80}" if no_object else f"{what:.240}"
    key, rest = step[1], place[step.end() :]
    if key is None:
        return f"{step[0]} {_why(kind, value[int(step[2])], what, rest)}"
    said = _misfit(kind, key, value[key])
    # A single value has no parts.
    within = isinstance(value[key], list | tuple | dict)
    return f"{said}: {_why(_field(kind, key), value[key], what, rest)}" if within else said


def _misfit(kind: Any, key: str, value: object) -> str:
    return f"{key!r} is {value!r:.80}, expected {_expected(kind, key)}"


def _expected(kind: Any, key: str) -> str:
    return describe(_field(kind, key))


def _field(kind: Any, key: str) -> Any:
    """Return the kind of a field of the Struct that ``kind`` is, or is a list of."""
    while not (isinstance(kind, type) and issubclass(kind, Struct)):
        kind = get_args(kind)[0]
    return next(field.type for field in msgspec.structs.fields(kind) if field.name == key)
