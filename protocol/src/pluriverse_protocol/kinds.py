"""The kinds of values that messages carry: how each is read from JSON and written, and its name in the documentation.

A message is a frozen dataclass whose fields are annotated with these kinds: it is described in one place.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite, prod
from typing import Annotated, Any, Final, Literal, TypeVar, cast

from . import events, limits

_M = TypeVar("_M")

CLOCKS: Final = ("realtime", "lockstep")

# What a 64-bit integer of another language holds, either way.
_MAX_INTEGER: Final = 2**63 - 1

_MAX_EPISODE_ID_CHARS: Final = len(str(limits.MAX_EPISODE_ID))
_EPISODE_ID: Final = re.compile(rf"([0-9]{{1,{_MAX_EPISODE_ID_CHARS}}})(?:\.[0-9]{{1,{_MAX_EPISODE_ID_CHARS}}})?")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of value.

    ``read`` returns the Python value of a JSON one, or raises ValueError where it doesn't fit. What is about to be sent
    is checked by it too, so it takes tuples for lists and leaves Python values as they are.
    """

    name: str
    read: Callable[[Any], Any]
    write: Callable[[Any], Any] | None = None


def expect(condition: bool, message: str = "") -> None:
    """Raise ValueError with ``message`` unless ``condition`` holds."""
    if not condition:
        raise ValueError(message)


def integer(low: int, high: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        raise ValueError

    return read


def items(value: Any, read: Callable[[Any], _M], *, limit: int | None = None, what: str = "items") -> tuple[_M, ...]:
    """Return the items of a list or tuple, each read by ``read``."""
    expect(isinstance(value, list | tuple))
    if limit is not None and len(value) > limit:
        raise ValueError(f"{len(value)} {what}, over {limit}")
    read_items: list[_M] = []
    for index, item in enumerate(cast("list[Any]", value)):
        try:
            read_items.append(read(item))
        except ValueError as error:
            raise ValueError(f"[{index}] {error}" if str(error) else "") from None
    return tuple(read_items)


def _instance(of: type[Any]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if isinstance(value, of):
            return value
        raise ValueError

    return read


def _string(low: int, high: int) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        expect(isinstance(value, str) and low <= len(value) <= high)
        return value

    return read


def _read_number(value: Any) -> float:
    if isinstance(value, float) and isfinite(value):
        return value
    expect(isinstance(value, int) and not isinstance(value, bool))
    try:
        return float(value)
    except OverflowError:
        raise ValueError from None


def _read_fps(value: Any) -> float:
    fps = _read_number(value)
    expect(limits.MIN_FPS <= fps <= limits.MAX_FPS)
    return fps


def _read_time(value: Any) -> float:
    seconds = _read_number(value)
    expect(abs(seconds) <= limits.MAX_TIME_S)
    return seconds


def _read_message_id(value: Any) -> int | str:
    if isinstance(value, str):
        fits = len(value) <= limits.MAX_MESSAGE_ID_CHARS
    else:
        fits = isinstance(value, int) and not isinstance(value, bool) and -_MAX_INTEGER <= value <= _MAX_INTEGER
    if not fits:
        raise ValueError
    return value


def _read_episode_id(value: Any) -> int:
    # Universe's documentation has "1.2" for one.
    if isinstance(value, str) and (match := _EPISODE_ID.fullmatch(value)):
        value = int(match[1])
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= limits.MAX_EPISODE_ID:
        return value
    raise ValueError


def _read_box(value: Any) -> tuple[int, ...]:
    box = items(value, integer(0, limits.MAX_COORDINATE))
    expect(len(box) == 4 and box[2] > 0 and box[3] > 0)
    return box


def _read_picture(value: Any) -> tuple[int, ...]:
    x, y, width, height = _read_box(value)
    expect(max(x + width, y + height) <= limits.MAX_SIDE and width * height <= limits.MAX_PIXELS)
    return x, y, width, height


def _read_shape(value: Any) -> tuple[int, ...]:
    sizes = items(value, integer(1, limits.MAX_OBSERVATION_NUMBERS))
    expect(0 < len(sizes) <= limits.MAX_OBSERVATION_DIMENSIONS and prod(sizes) <= limits.MAX_OBSERVATION_NUMBERS)
    return sizes


def _read_keysyms(value: Any, limit: int) -> tuple[int, ...]:
    keysyms = items(value, _read_keysym)
    expect(len(set(keysyms)) == len(keysyms) <= limit)
    return keysyms


def _read_env_state(value: Any) -> str:
    expect(value in ("resetting", "running"))
    return value


def _read_clock(value: Any) -> str:
    expect(value in CLOCKS)
    return value


def _read_picture_shape(value: Any) -> tuple[int, ...]:
    shape = items(value, integer(1, limits.MAX_COORDINATE))
    expect(len(shape) == 3 and shape[2] in (1, 3))
    return shape


def _read_event(value: Any) -> events.Event:
    return value if isinstance(value, events.Event) else events.from_wire(value)


def _keysyms(limit: int) -> Kind:
    name = f"list of at most {limit} different keysyms"
    return Kind(name, functools.partial(_read_keysyms, limit=limit), list)


_read_keysym: Final = integer(1, limits.MAX_KEYSYM)

Clock = Annotated[Literal["realtime", "lockstep"], Kind('"realtime" or "lockstep"', _read_clock)]
StepFrames = Annotated[int, Kind(f"integer of 1 to {limits.MAX_STEP_FRAMES}", integer(1, limits.MAX_STEP_FRAMES))]
PictureShape = Annotated[
    tuple[int, int, int], Kind("list of height, width and 1 or 3 channels", _read_picture_shape, list)
]
Number = Annotated[float, Kind("number", _read_number)]
Fps = Annotated[float, Kind(f"number of {limits.MIN_FPS:g} to {limits.MAX_FPS:g}", _read_fps)]
Time = Annotated[float, Kind(f"number of seconds, at most {limits.MAX_TIME_S:g}", _read_time)]
Flag = Annotated[bool, Kind("boolean", _instance(bool))]
String = Annotated[str, Kind("string", _instance(str))]
EnvId = Annotated[
    str, Kind(f"string of 1 to {limits.MAX_ENV_ID_CHARS} characters", _string(1, limits.MAX_ENV_ID_CHARS))
]
EnvState = Annotated[Literal["resetting", "running"], Kind('"resetting" or "running"', _read_env_state)]
Seed = Annotated[int, Kind("integer of 0 to 2⁶³-1", integer(0, limits.MAX_SEED))]
Count = Annotated[int, Kind("integer of 0 or more", integer(0, _MAX_INTEGER))]
Handles = Annotated[
    tuple[int, ...],
    Kind(
        f"list of at most {limits.MAX_SNAPSHOTS} integers",
        lambda value: items(value, integer(0, _MAX_INTEGER), limit=limits.MAX_SNAPSHOTS),
        list,
    ),
]
MessageIdentifier = Annotated[
    int | str, Kind(f"integer, or string of at most {limits.MAX_MESSAGE_ID_CHARS}", _read_message_id)
]
EpisodeId = Annotated[int, Kind("decimal integer in a string", _read_episode_id, str)]
Object = Annotated[dict[str, Any], Kind("object", _instance(dict))]
Names = Annotated[tuple[str, ...], Kind("list of strings", lambda value: items(value, _instance(str)), list)]
Events = Annotated[
    tuple[events.Event, ...],
    Kind(
        f"list of at most {limits.MAX_EVENTS_PER_ACTION} events",
        lambda value: items(value, _read_event, limit=limits.MAX_EVENTS_PER_ACTION, what="events"),
        lambda action: [events.to_wire(event) for event in action],
    ),
]
Box = Annotated[tuple[int, int, int, int], Kind("list of x, y, width and height in pixels", _read_box, list)]
Side = Annotated[int, Kind(f"integer of 0 to {limits.MAX_SIDE}", integer(0, limits.MAX_SIDE))]
Picture = Annotated[
    tuple[int, int, int, int], Kind("list of x, y, width and height on a screen of RFB", _read_picture, list)
]
ChoiceName = Annotated[
    str, Kind(f"string of 1 to {limits.MAX_CHOICE_NAME_CHARS} characters", _string(1, limits.MAX_CHOICE_NAME_CHARS))
]
Keys = Annotated[tuple[int, ...], _keysyms(limits.MAX_KEYS)]
Key = Annotated[int, Kind("keysym", _read_keysym)]
KeysOfChoice = Annotated[tuple[int, ...], _keysyms(limits.MAX_KEYS_OF_CHOICE)]
Shape = Annotated[
    tuple[int, ...],
    Kind(
        f"list of 1 to {limits.MAX_OBSERVATION_DIMENSIONS} sizes, "
        f"of at most {limits.MAX_OBSERVATION_NUMBERS} numbers in all",
        _read_shape,
        list,
    ),
]
Json = Annotated[Any, Kind("any JSON", lambda value: value)]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message: its key, its kind, and whether it may be null or must be there."""

    key: str
    kind: Kind
    optional: bool
    required: bool


@functools.cache
def fields_of(message: type[Any]) -> tuple[Field, ...]:
    """Return the fields of a message's class, read off its annotations."""
    hints = typing.get_type_hints(message, include_extras=True)
    described: list[Field] = []
    for field in dataclasses.fields(message):
        hint = hints[field.name]
        members = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
        kind = next(extra for member in members for extra in getattr(member, "__metadata__", ()))
        required = field.default is field.default_factory is dataclasses.MISSING
        described.append(Field(field.name, kind, types.NoneType in members, required))
    return tuple(described)


# What ``from_json`` needs to know of a class: readers by key, keys that may be null, keys that must be there, defaults
# to be made anew for each, and what checks the whole.
_Plan = tuple[
    dict[str, Callable[[Any], Any]],
    frozenset[str],
    tuple[str, ...],
    tuple[tuple[str, Callable[[], Any]], ...],
    Callable[[Any], None] | None,
]


# What ``to_json`` needs to know of a field: its key, whether it may be null, what checks it, and what writes it.
_Writer = tuple[str, bool, Callable[[Any], Any], Callable[[Any], Any] | None]


@functools.cache
def _plan(message: type[Any]) -> _Plan:
    if hasattr(message, "__slots__"):
        raise TypeError(f"{message.__name__} has slots; from_json fills an instance's dictionary")
    fields, own = fields_of(message), dataclasses.fields(message)
    return (
        {field.key: field.kind.read for field in fields},
        frozenset(field.key for field in fields if field.optional),
        tuple(field.key for field in fields if field.required),
        tuple((item.name, item.default_factory) for item in own if item.default_factory is not dataclasses.MISSING),
        getattr(message, "__post_init__", None),
    )


def from_json(message: type[_M], values: Mapping[str, Any]) -> _M:
    """Return the message that a JSON object stands for; keys that it doesn't know are passed over."""
    readers, optional, required, factories, check = _plan(message)
    # Filled directly: the initializer of a frozen dataclass takes longer than all the rest. Where a key is missing
    # the default stays, which is an attribute of the class.
    instance = object.__new__(message)
    fields = instance.__dict__
    for key, value in values.items():
        read = readers.get(key)
        if read is None:
            continue
        if value is None and key in optional:
            fields[key] = None
            continue
        try:
            fields[key] = read(value)
        except ValueError as error:
            raise _misfit(message, key, value, error) from None
    for key in required:
        if key not in fields:
            raise ValueError(f"{key!r} is missing, expected {_expected(message, key)}")
    for key, make in factories:
        if key not in fields:
            fields[key] = make()
    if check is not None:
        check(instance)
    return instance


def to_json(message: Any) -> dict[str, Any]:
    """Return the JSON object of a message; fields that are None are left out."""
    values: dict[str, Any] = {}
    kind = cast("type[Any]", type(message))
    for key, optional, read, write in _writers(kind):
        value = getattr(message, key)
        if value is None and optional:
            continue
        try:
            value = read(value)
        except ValueError as error:
            raise _misfit(kind, key, value, error) from None
        values[key] = value if write is None else write(value)
    return values


@functools.cache
def _writers(message: type[Any]) -> tuple[_Writer, ...]:
    return tuple((field.key, field.optional, field.kind.read, field.kind.write) for field in fields_of(message))


def _misfit(message: type[Any], key: str, value: object, error: ValueError) -> ValueError:
    detail = f": {error}" if str(error) else ""
    return ValueError(f"{key!r} is {value!r:.80}, expected {_expected(message, key)}{detail}")


def _expected(message: type[Any], key: str) -> str:
    return next(field.kind.name for field in fields_of(message) if field.key == key)
