"""What a reset may ask of an environment beside seed and rate, such as a game's mode.

A remote declares the options of an environment in ``v0.env.describe``; ``v0.env.reset`` carries values by their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, cast

from msgspec import Meta

from .kinds import JsonObject, Number, String, describe, read
from .limits import MAX_OPTION_CHARS, MAX_OPTION_CHOICES, MAX_OPTION_INTEGER, MAX_OPTION_NAME_CHARS, MAX_OPTIONS

Value = bool | int | float | str

_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "string": (str,),
}

OptionType = Annotated[
    Literal["integer", "number", "boolean", "string"],
    Meta(description='"integer", "number", "boolean" or "string"'),
]
OptionValue = Annotated[
    bool
    | Annotated[int, Meta(ge=-MAX_OPTION_INTEGER, le=MAX_OPTION_INTEGER)]
    | Number
    | Annotated[str, Meta(max_length=MAX_OPTION_CHARS)],
    Meta(description=f"boolean, number (integers of at most 2⁵³), or string of at most {MAX_OPTION_CHARS} characters"),
]
OptionChoices = Annotated[
    tuple[OptionValue, ...],
    Meta(max_length=MAX_OPTION_CHOICES, description=f"list of at most {MAX_OPTION_CHOICES} values"),
]
_Name = Annotated[str, Meta(min_length=1, max_length=MAX_OPTION_NAME_CHARS)]


def _fits(value: Any, type_: str) -> bool:
    return isinstance(value, _TYPES[type_]) and isinstance(value, bool) == (type_ == "boolean")


class Option(JsonObject, frozen=True):
    """One option: its type, its default value, and its possible values."""

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


_Named = Annotated[dict[_Name, Any], Meta(max_length=MAX_OPTIONS)]
OptionsOfEnv = Annotated[Mapping[_Name, Option], Meta(max_length=MAX_OPTIONS, description="object of options")]
OptionValues = Annotated[
    Mapping[_Name, OptionValue],
    Meta(max_length=MAX_OPTIONS, description=f"object of at most {MAX_OPTIONS} booleans, numbers and strings"),
]


def parse(json: object) -> dict[str, Option]:
    """Return the options that a JSON object declares by their names; an ``Option`` is returned unchanged."""
    declared: dict[str, Option] = {}
    for name, option in read(cast("Any", _Named), json).items():
        try:
            declared[name] = read(Option, option)
        except ValueError as error:
            raise ValueError(f"the option {name!r}: {error}") from None
    return declared


def parse_values(json: object) -> dict[str, Value]:
    """Return the values that a JSON object gives by options' names."""
    values: dict[str, Value] = {}
    for name, value in read(cast("Any", _Named), json).items():
        try:
            values[name] = read(cast("Any", OptionValue), value)
        except ValueError:
            raise ValueError(f"{name!r} is {value!r:.80}, expected {describe(OptionValue)}") from None
    return values


def complete(declared: Mapping[str, Option], given: Mapping[str, Value]) -> dict[str, Value]:
    for name in given:
        if name not in declared:
            there_are = ", ".join(declared) or "none"
            raise ValueError(f"unknown option {name!r:.80}; known: {there_are}")
    return {name: option.checked(name, given.get(name, option.default)) for name, option in declared.items()}
