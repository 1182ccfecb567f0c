"""A person's keys and pointer within a step, as the action of an agent that would have done the same. Pure."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from pluriverse_protocol.events import KeyEvent, PointerEvent

from pluriverse.adapters.actions import BUTTONS, ActionMap

Action = Any
"""A choice's index, an int8 for each key, or a dict of ``pointer`` (int64), ``buttons`` and ``keys`` (int8)."""


class HeldInputs:
    """Keys and buttons that are held, and those that were down at any time since the last step.

    A key that was pressed and released within one step counts as pressed in it, so that no input is lost.
    """

    def __init__(self) -> None:
        self.x: int = 0
        self.y: int = 0
        self._keys: set[int] = set()
        self._buttons = 0
        self.pressed: list[int] = []
        self.down: set[int] = set()
        self.clicked: int = 0

    def take(self, event: KeyEvent | PointerEvent) -> None:
        """Apply an input event."""
        match event:
            case KeyEvent(keysym, True):
                if keysym not in self._keys:
                    self.pressed.append(keysym)
                self._keys.add(keysym)
                self.down.add(keysym)
            case KeyEvent(keysym, _):
                self._keys.discard(keysym)
            case PointerEvent(x, y, buttonmask):
                self.x, self.y, self._buttons = x, y, buttonmask
                self.clicked |= buttonmask

    def step(self) -> None:
        """Begin the next step, with what is held."""
        self.pressed = []
        self.down = set(self._keys)
        self.clicked = self._buttons


class ActionReader(Protocol):
    """Turns the inputs of a step into an action."""

    def action(self, inputs: HeldInputs) -> Action:
        """Return the action, as the action space has it."""
        ...


def action_reader(actions: ActionMap) -> ActionReader:
    """Return the reader for an environment with ``actions``; raise ``ValueError`` if they are lists of events."""
    match actions.kind:
        case "discrete":
            return _Taps(actions) if actions.tap else _Choices(actions)
        case "keys" | "pointer":
            return _KeysAndPointer(actions)
        case "events":
            raise ValueError("lists of events have no space of a fixed size; expected discrete, keys or pointer")


class _Choices:
    """The choice with the most keys, all of which were down."""

    def __init__(self, actions: ActionMap) -> None:
        self._choices = [frozenset(choice.keys) for choice in actions.choices]

    def action(self, inputs: HeldInputs) -> int:
        fitting = [index for index, keys in enumerate(self._choices) if keys <= inputs.down]
        return max(fitting, key=lambda index: len(self._choices[index]), default=0)


class _Taps:
    """One press a step, in the order in which they came; the rest wait for the next steps."""

    def __init__(self, actions: ActionMap) -> None:
        self._by_key = {choice.keys[-1]: index for index, choice in enumerate(actions.choices) if choice.keys}
        self._idle = next((index for index, choice in enumerate(actions.choices) if not choice.keys), 0)
        self._waiting: list[int] = []

    def action(self, inputs: HeldInputs) -> int:
        self._waiting += [self._by_key[key] for key in inputs.pressed if key in self._by_key]
        return self._waiting.pop(0) if self._waiting else self._idle


class _KeysAndPointer:
    """Each key that was down; with a pointer also its place in the picture, and the buttons that were down."""

    def __init__(self, actions: ActionMap) -> None:
        self._actions = actions

    def action(self, inputs: HeldInputs) -> Action:
        actions = self._actions
        keys = np.array([key in inputs.down for key in actions.keys], np.int8)
        if actions.kind == "keys":
            return keys
        left, top, width, height = actions.box
        place = [min(max(inputs.x - left, 0), width - 1), min(max(inputs.y - top, 0), height - 1)]
        buttons = np.array([inputs.clicked >> bit & 1 for bit in range(BUTTONS)], np.int8)
        parts = {"pointer": np.array(place, np.int64), "buttons": buttons}
        return parts | {"keys": keys} if actions.keys else parts
