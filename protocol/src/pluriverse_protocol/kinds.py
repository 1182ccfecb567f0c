"""The kinds of values that messages carry: how each is read from JSON, and its name in the documentation.

A message is a frozen dataclass whose fields are annotated with these kinds; the codecs read and write any of them by
its annotations alone, so a message is described in one place.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, cast

from . import events
from .limits import (
    MAX_CHOICE_NAME_CHARS,
    MAX_COORDINATE,
    MAX_ENV_ID_CHARS,
    MAX_EPISODE_ID,
    MAX_EVENTS_PER_ACTION,
    MAX_FPS,
    MAX_KEYS,
    MAX_KEYS_OF_CHOICE,
    MAX_KEYSYM,
    MAX_MESSAGE_ID_CHARS,
    MAX_OBSERVATION_DIMENSIONS,
    MAX_OBSERVATION_NUMBERS,
    MAX_SEED,
)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of value. ``read`` returns the Python value of a JSON one, or raises ValueError where it doesn't fit."""

    name: str
    read: Callable[[Any], Any]
    write: Callable[[Any], Any] = lambda value: value


def _expect(condition: bool) -> None:
    if not condition:
        raise ValueError


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _read_number(value: Any) -> float:
    _expect(isinstance(value, int | float) and not isinstance(value, bool))
    try:
        number = float(value)
    except OverflowError:
        raise ValueError from None
    _expect(math.isfinite(number))
    return number


def _read_fps(value: Any) -> float:
    fps = _read_number(value)
    _expect(0 < fps <= MAX_FPS)
    return fps


def _read_bool(value: Any) -> bool:
    _expect(isinstance(value, bool))
    return value


def _read_string(value: Any) -> str:
    _expect(isinstance(value, str))
    return value


def _read_env_id(value: Any) -> str:
    _expect(isinstance(value, str) and 0 < len(value) <= MAX_ENV_ID_CHARS)
    return value


def _read_seed(value: Any) -> int:
    _expect(_is_int(value) and 0 <= value <= MAX_SEED)
    return value


def _read_count(value: Any) -> int:
    _expect(_is_int(value) and 0 <= value < 2**63)
    return value


def _read_message_id(value: Any) -> int | str:
    if isinstance(value, str):
        _expect(len(value) <= MAX_MESSAGE_ID_CHARS)
    else:
        _expect(_is_int(value) and abs(value) < 2**63)
    return value


def _read_episode_id(value: Any) -> int:
    if isinstance(value, str):
        _expect(value.isascii() and value.isdigit() and len(value) <= len(str(MAX_EPISODE_ID)))
        value = int(value)
    _expect(_is_int(value) and 0 <= value <= MAX_EPISODE_ID)
    return value


def _read_object(value: Any) -> dict[str, Any]:
    _expect(isinstance(value, dict))
    return value


def _read_names(value: Any) -> tuple[str, ...]:
    # Sending passes the tuple itself, receiving JSON's list.
    _expect(isinstance(value, list | tuple))
    items = cast("list[Any]", value)
    _expect(all(isinstance(item, str) for item in items))
    return tuple(items)


def _read_box(value: Any) -> tuple[int, int, int, int]:
    _expect(isinstance(value, list | tuple))
    x, y, width, height = _expect_four(cast("list[Any]", value))
    _expect(width > 0 and height > 0)
    return x, y, width, height


def _expect_four(values: list[Any]) -> list[int]:
    _expect(len(values) == 4 and all(_is_int(item) and 0 <= item <= MAX_COORDINATE for item in values))
    return values


def _read_choice_name(value: Any) -> str:
    _expect(isinstance(value, str) and 0 < len(value) <= MAX_CHOICE_NAME_CHARS)
    return value


def _read_key(value: Any) -> int:
    _expect(_is_int(value) and 0 < value <= MAX_KEYSYM)
    return value


def _read_shape(value: Any) -> tuple[int, ...]:
    sizes = _expect_integers(value, MAX_OBSERVATION_NUMBERS)
    _expect(0 < len(sizes) <= MAX_OBSERVATION_DIMENSIONS and math.prod(sizes) <= MAX_OBSERVATION_NUMBERS)
    return sizes


def _read_keys(value: Any, limit: int) -> tuple[int, ...]:
    keysyms = _expect_integers(value, MAX_KEYSYM)
    _expect(len(set(keysyms)) == len(keysyms) <= limit)
    return keysyms


def _expect_integers(value: Any, maximum: int) -> tuple[int, ...]:
    _expect(isinstance(value, list | tuple))
    items = cast("list[Any]", value)
    _expect(all(_is_int(item) and 0 < item <= maximum for item in items))
    return tuple(items)


def _read_env_state(value: Any) -> str:
    _expect(value in ("resetting", "running"))
    return value


def _read_action(value: Any) -> tuple[events.Event, ...]:
    _expect(isinstance(value, list | tuple))
    items = cast("list[Any]", value)
    if len(items) > MAX_EVENTS_PER_ACTION:
        raise ValueError(f"{len(items)} events, over {MAX_EVENTS_PER_ACTION}")
    return tuple(item if isinstance(item, events.Event) else events.from_wire(item) for item in items)


def _write_action(value: tuple[events.Event, ...]) -> list[Any]:
    return [events.to_wire(event) for event in value]


Number = Annotated[float, Kind("number", _read_number)]
Fps = Annotated[float, Kind(f"number over 0, at most {MAX_FPS:g}", _read_fps)]
Flag = Annotated[bool, Kind("boolean", _read_bool)]
String = Annotated[str, Kind("string", _read_string)]
EnvId = Annotated[str, Kind(f"string of 1 to {MAX_ENV_ID_CHARS} characters", _read_env_id)]
EnvState = Annotated[typing.Literal["resetting", "running"], Kind('"resetting" or "running"', _read_env_state)]
Seed = Annotated[int, Kind("integer of 0 to 2⁶³-1", _read_seed)]
Count = Annotated[int, Kind("integer of 0 or more", _read_count)]
MessageIdentifier = Annotated[
    int | str, Kind(f"integer, or string of at most {MAX_MESSAGE_ID_CHARS}", _read_message_id)
]
EpisodeId = Annotated[int, Kind("decimal integer in a string", _read_episode_id, str)]
Object = Annotated[dict[str, Any], Kind("object", _read_object)]
Names = Annotated[tuple[str, ...], Kind("list of strings", _read_names, list)]
Events = Annotated[
    tuple[events.Event, ...], Kind(f"list of at most {MAX_EVENTS_PER_ACTION} events", _read_action, _write_action)
]
Box = Annotated[tuple[int, int, int, int], Kind("list of x, y, width and height in pixels", _read_box, list)]
ChoiceName = Annotated[str, Kind(f"string of 1 to {MAX_CHOICE_NAME_CHARS} characters", _read_choice_name)]
Keys = Annotated[
    tuple[int, ...],
    Kind(f"list of at most {MAX_KEYS} different keysyms", functools.partial(_read_keys, limit=MAX_KEYS), list),
]
Key = Annotated[int, Kind("keysym", _read_key)]
KeysOfChoice = Annotated[
    tuple[int, ...],
    Kind(
        f"list of at most {MAX_KEYS_OF_CHOICE} different keysyms",
        functools.partial(_read_keys, limit=MAX_KEYS_OF_CHOICE),
        list,
    ),
]
Shape = Annotated[
    tuple[int, ...],
    Kind(
        f"list of 1 to {MAX_OBSERVATION_DIMENSIONS} sizes, of at most {MAX_OBSERVATION_NUMBERS} numbers in all",
        _read_shape,
        list,
    ),
]
Json = Annotated[Any, Kind("any JSON", lambda value: value)]

_NO_DEFAULT: Final = dataclasses.MISSING


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message: its key, its kind, and whether it may be absent or null."""

    key: str
    kind: Kind
    optional: bool
    required: bool


@functools.cache
def fields_of(message: type[Any]) -> tuple[Field, ...]:
    """The fields of a message's class, read off its annotations."""
    hints = typing.get_type_hints(message, include_extras=True)
    described: list[Field] = []
    for field in dataclasses.fields(message):
        hint = hints[field.name]
        members = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
        kind = next(extra for member in members for extra in getattr(member, "__metadata__", ()))
        required = field.default is _NO_DEFAULT and field.default_factory is _NO_DEFAULT
        described.append(Field(field.name, kind, types.NoneType in members, required))
    return tuple(described)


def read_fields(message: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of ``message`` out of a JSON object; keys that it doesn't know are passed over.

    Raises:
        ValueError: a key is missing or holds the wrong thing; says which, and what was expected.
    """
    arguments: dict[str, Any] = {}
    for field in fields_of(message):
        value = values.get(field.key)
        if field.key not in values:
            if field.required:
                raise ValueError(f"{field.key!r} is missing, expected {field.kind.name}")
        elif value is None and field.optional:
            arguments[field.key] = None
        else:
            arguments[field.key] = _read(field, value)
    return arguments


def write_fields(message: Any) -> dict[str, Any]:
    """The JSON object of a message; fields that are None are left out.

    Raises:
        ValueError: a field holds what its kind doesn't allow.
    """
    values: dict[str, Any] = {}
    for field in fields_of(cast("type[Any]", type(message))):
        value = getattr(message, field.key)
        if value is None and field.optional:
            continue
        values[field.key] = field.kind.write(_read(field, value))
    return values


def _read(field: Field, value: Any) -> Any:
    try:
        return field.kind.read(value)
    except ValueError as error:
        detail = f": {error}" if str(error) else ""
        raise ValueError(f"{field.key!r} is {value!r:.80}, expected {field.kind.name}{detail}") from None
