"""What a reset may ask of an environment beside seed and rate, such as a game's mode.

A remote declares the options of an environment in ``v0.env.describe``; ``v0.env.reset`` carries values by their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Annotated, Any, Final, Literal, cast

from .kinds import Kind, Number, String, expect, from_json, items, to_json
from .limits import MAX_OPTION_CHARS, MAX_OPTION_CHOICES, MAX_OPTION_INTEGER, MAX_OPTION_NAME_CHARS, MAX_OPTIONS

Value = bool | int | float | str

_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "string": (str,),
}


def _fits(value: Any, type_: str) -> bool:
    return isinstance(value, _TYPES[type_]) and isinstance(value, bool) == (type_ == "boolean")


def read_value(value: Any) -> Value:
    match value:
        case bool():
            return value
        case int():
            expect(abs(value) <= MAX_OPTION_INTEGER, f"{value!r:.80} is over {MAX_OPTION_INTEGER}")
        case float():
            expect(isfinite(value), f"{value!r} is not finite")
        case str():
            expect(len(value) <= MAX_OPTION_CHARS, f"a string of {len(value)} characters, over {MAX_OPTION_CHARS}")
        case _:
            raise ValueError(f"{value!r:.80} is no boolean, number or string")
    return value


def _read_type(value: Any) -> str:
    expect(isinstance(value, str) and value in _TYPES)
    return value


def _by_name(value: Any) -> dict[str, Any]:
    expect(isinstance(value, Mapping), f"expected an object, got {value!r:.80}")
    named = cast("Mapping[Any, Any]", value)
    expect(len(named) <= MAX_OPTIONS, f"{len(named)} options, over {MAX_OPTIONS}")
    for name in named:
        expect(isinstance(name, str) and 0 < len(name) <= MAX_OPTION_NAME_CHARS, f"the name {name!r:.80}")
    return dict(named)


OptionType = Annotated[
    Literal["integer", "number", "boolean", "string"],
    Kind('"integer", "number", "boolean" or "string"', _read_type),
]
OptionValue = Annotated[Value, Kind(f"boolean, number, or string of at most {MAX_OPTION_CHARS} characters", read_value)]
OptionChoices = Annotated[
    tuple[Value, ...],
    Kind(
        f"list of at most {MAX_OPTION_CHOICES} values",
        lambda value: items(value, read_value, limit=MAX_OPTION_CHOICES, what="values"),
        list,
    ),
]


@dataclass(frozen=True)
class Option:
    """One option: its type, the value that it has unless a reset says otherwise, and which values there are."""

    type: OptionType
    default: OptionValue
    minimum: Number | None = None
    maximum: Number | None = None
    choices: OptionChoices | None = None
    description: String | None = None

    def __post_init__(self) -> None:
        if self.type not in ("integer", "number") and (self.minimum, self.maximum) != (None, None):
            raise ValueError(f"a {self.type} has neither 'minimum' nor 'maximum'")
        for choice in self.choices or ():
            if not _fits(choice, self.type):
                raise ValueError(f"'choices' has {choice!r:.80}, expected {self.type}s")
        self.checked("default", self.default)

    def checked(self, name: str, value: Value) -> Value:
        """Return a value for this option, called ``name``; a number as float."""
        if not self._takes(value):
            raise ValueError(f"{name!r} is {value!r:.80}, expected {self.values}")
        return float(value) if self.type == "number" else value

    @property
    def values(self) -> str:
        if self.choices is not None:
            return f"one of {', '.join(map(repr, self.choices))}"
        limits = [
            f"{words} {limit:g}"
            for words, limit in (("at least", self.minimum), ("at most", self.maximum))
            if limit is not None
        ]
        return " ".join(("an integer" if self.type == "integer" else f"a {self.type}", " and ".join(limits))).strip()

    def _takes(self, value: Value) -> bool:
        if not _fits(value, self.type) or (self.choices is not None and value not in self.choices):
            return False
        if isinstance(value, str):
            return True
        return (self.minimum is None or value >= self.minimum) and (self.maximum is None or value <= self.maximum)


def parse(json: object) -> dict[str, Option]:
    """Return the options that a JSON object declares by their names; an ``Option`` is returned unchanged."""
    declared: dict[str, Option] = {}
    for name, option in _by_name(json).items():
        try:
            expect(isinstance(option, Option | dict), f"is {option!r:.80}, expected an object")
            declared[name] = option if isinstance(option, Option) else from_json(Option, option)
        except ValueError as error:
            raise ValueError(f"the option {name!r}: {error}") from None
    return declared


def parse_values(json: object) -> dict[str, Value]:
    """Return the values that a JSON object gives by options' names."""
    values: dict[str, Value] = {}
    for name, value in _by_name(json).items():
        try:
            values[name] = read_value(value)
        except ValueError as error:
            raise ValueError(f"{name!r}: {error}") from None
    return values


def complete(declared: Mapping[str, Option], given: Mapping[str, Value]) -> dict[str, Value]:
    for name in given:
        if name not in declared:
            there_are = ", ".join(declared) or "none"
            raise ValueError(f"there is no option {name!r:.80}; there are: {there_are}")
    return {name: option.checked(name, given.get(name, option.default)) for name, option in declared.items()}


OptionsOfEnv = Annotated[
    Mapping[str, Option],
    Kind("object of options", parse, lambda options: {name: to_json(option) for name, option in options.items()}),
]
OptionValues = Annotated[
    Mapping[str, Value], Kind(f"object of at most {MAX_OPTIONS} booleans, numbers and strings", parse_values)
]
