"""The actions that an environment takes, and its observations beside the pixels.

A remote sends them in ``v0.env.describe``, for agents whose actions are numbers or vectors instead of events.
"""

from __future__ import annotations

from math import prod
from typing import Annotated, Any

from msgspec import Meta

from .kinds import (
    Buttons,
    ChoiceName,
    Flag,
    JsonObject,
    Key,
    Keys,
    KeysOfChoice,
    Pads,
    Shape,
    always,
    expect,
    expect_fitting,
    read,
    write,
)
from .limits import MAX_CHOICES, MAX_OBSERVATION_NUMBERS


class Choice(JsonObject, frozen=True):
    """One action of a discrete set: its name, for people, and the X keysyms of its keys, possibly none."""

    name: ChoiceName
    keys: KeysOfChoice

    def __post_init__(self) -> None:
        expect_fitting(self, "keys", len(set(self.keys)) == len(self.keys))


Choices = Annotated[
    tuple[Choice, ...], Meta(max_length=MAX_CHOICES, description=f"list of at most {MAX_CHOICES} choices")
]


class Spaces(JsonObject, frozen=True):
    """Actions and observations. The defaults stand for none of either.

    ``discrete``: the keys of choice i are held while i is chosen, and all other keys of all choices are up. With
    ``tap`` they are pressed and released once for each action, as turn-based environments want it.

    ``keys``: the X keysyms of every key that has a meaning; empty stands for those of the choices. ``keyboard`` has
    them in either case.

    ``pointer``: whether it matters where the pointer is and which buttons are held, of the first ``buttons``.
    ``relative``: not where it is matters but how far it moves, as in games that grab it. ``pads``: how many gamepads
    matter, whose events are ``pads.NAMES``. ``text``: whether text observations are sent. ``observation``: the shape of
    the structured observations, (nested) lists of floats; None if there are none, or if they aren't of one shape.
    ``step``: the X keysym of the key that makes an environment which waits for its agent go one step, with whatever
    else is held; None: time goes on by itself, or each key is a step. ``submit``: whether agents
    say that they are done.
    """

    discrete: Choices = always(())
    tap: Flag = always(False)
    keys: Keys = always(())
    pointer: Flag = always(False)
    text: Flag = always(False)
    observation: Shape | None = None
    step: Key | None = None
    pads: Pads = 0
    relative: Flag = False
    buttons: Buttons = 3
    submit: Flag = False

    def __post_init__(self) -> None:
        expect(self.pointer or not self.relative, "'relative' needs 'pointer'")
        expect_fitting(self, "keys", len(set(self.keys)) == len(self.keys))
        expect_fitting(self, "observation", prod(self.observation or ()) <= MAX_OBSERVATION_NUMBERS)
        names: set[str] = set()
        for choice in self.discrete:
            expect(choice.name not in names, f"'discrete' has two choices {choice.name!r}, expected each name once")
            names.add(choice.name)
            known = not self.keys or set(choice.keys) <= set(self.keys)
            expect(known, f"the choice {choice.name!r} has a key that isn't among 'keys'")

    @property
    def keyboard(self) -> tuple[int, ...]:
        """The X keysyms of every key that has a meaning, each once."""
        return self.keys or tuple(dict.fromkeys(key for choice in self.discrete for key in choice.keys))

    @property
    def permitted(self) -> frozenset[int] | None:
        """The X keysyms that agents may press: remotes drop all others. None: any, since no input is named."""
        if not (self.keyboard or self.pointer or self.step or self.pads):
            return None
        return frozenset(self.keyboard if self.step is None else (*self.keyboard, self.step))

    def as_json(self) -> dict[str, Any]:
        return write(self)


def parse(json: object) -> Spaces:
    """Return the spaces that a JSON object stands for; unknown keys are ignored, ``Spaces`` are returned unchanged."""
    return read(Spaces, json)


SpacesOfEnv = Annotated[Spaces, Meta(description="object of spaces")]
