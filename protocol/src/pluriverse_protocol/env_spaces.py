"""The actions that an environment takes, and its observations beside the pixels.

A remote sends them in ``v0.env.describe``, for agents whose actions are numbers or vectors instead of events.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, cast

from .kinds import ChoiceName, Flag, Key, Keys, KeysOfChoice, Kind, Shape, from_json, items, to_json
from .limits import MAX_CHOICES


@dataclass(frozen=True)
class Choice:
    """One action of a discrete set: its name, for people, and the X keysyms of its keys, possibly none."""

    name: ChoiceName
    keys: KeysOfChoice


def _read_choice(value: Any) -> Choice:
    if isinstance(value, Choice):
        return value
    if not isinstance(value, dict):
        raise ValueError(f"is {value!r:.80}, expected an object of name and keys")
    return from_json(Choice, cast("dict[str, Any]", value))


Choices = Annotated[
    tuple[Choice, ...],
    Kind(
        f"list of at most {MAX_CHOICES} choices",
        lambda value: items(value, _read_choice, limit=MAX_CHOICES, what="choices"),
        lambda choices: [to_json(choice) for choice in choices],
    ),
]


@dataclass(frozen=True)
class Spaces:
    """Actions and observations. The defaults stand for none of either.

    ``discrete``: the keys of choice i are held while i is chosen, and all other keys of all choices are up. With
    ``tap`` they are pressed and released once for each action, as turn-based environments want it.

    ``keys``: the X keysyms of every key that has a meaning; empty stands for those of the choices. ``keyboard`` has
    them in either case.

    ``pointer``: whether it matters where the pointer is and which buttons are held. ``text``: whether text observations
    are sent. ``observation``: the shape of the structured observations, (nested) lists of floats; None if there are
    none, or if they aren't of one shape. ``step``: the X keysym of the key that makes an environment which waits for
    its agent go one step, with whatever else is held; None: time goes on by itself, or each key is a step.
    """

    discrete: Choices = ()
    tap: Flag = False
    keys: Keys = ()
    pointer: Flag = False
    text: Flag = False
    observation: Shape | None = None
    step: Key | None = None

    def __post_init__(self) -> None:
        names: set[str] = set()
        for choice in self.discrete:
            if choice.name in names:
                raise ValueError(f"'discrete' has two choices {choice.name!r}, expected each name once")
            names.add(choice.name)
            if self.keys and not set(choice.keys) <= set(self.keys):
                raise ValueError(f"the choice {choice.name!r} has a key that isn't among 'keys'")

    @property
    def keyboard(self) -> tuple[int, ...]:
        """The X keysyms of every key that has a meaning, each once."""
        return self.keys or tuple(dict.fromkeys(key for choice in self.discrete for key in choice.keys))

    def as_json(self) -> dict[str, Any]:
        return to_json(self)


def parse(json: object) -> Spaces:
    """Return the spaces that a JSON object stands for; unknown keys are ignored, ``Spaces`` are returned unchanged."""
    if isinstance(json, Spaces):
        return json
    if not isinstance(json, dict):
        raise ValueError(f"expected an object, got {json!r:.80}")
    return from_json(Spaces, cast("dict[str, Any]", json))


SpacesOfEnv = Annotated[Spaces, Kind("object of spaces", parse, Spaces.as_json)]
