"""What a person did within a step, as the action of an agent that would have done the same. Pure."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from pluriverse_protocol.events import KeyEvent, PointerEvent

from pluriverse.adapters.actions import BUTTONS, ActionMap


class Hands:
    """Keys and buttons that a person holds, and those that were down at any time since the last step.

    A key that was pressed and released within one step was pressed: nothing that a person does falls between two steps.
    """

    def __init__(self) -> None:
        self.x = self.y = 0
        self._keys: set[int] = set()
        self._buttons = 0
        self.pressed: list[int] = []
        self.down: set[int] = set()
        self.clicked = 0

    def take(self, event: KeyEvent | PointerEvent) -> None:
        """Something that the person did."""
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
        """The step is over: what is held goes on into the next."""
        self.pressed = []
        self.down = set(self._keys)
        self.clicked = self._buttons


class Reading(Protocol):
    """Turns what hands did within a step into an action."""

    def action(self, hands: Hands) -> Any:
        """The action: an integer, an array, or a mapping of arrays, as the action space has it."""
        ...


def reading(actions: ActionMap) -> Reading:
    """How the hands of an environment with ``actions`` are read."""
    match actions.kind:
        case "discrete":
            return _Taps(actions) if actions.tap else _Choices(actions)
        case "keys" | "pointer":
            return _Parts(actions)
        case "events":
            raise ValueError("lists of events have no space of a fixed size; expected discrete, keys or pointer")


class _Choices:
    """The choice with the most keys, all of which were down."""

    def __init__(self, actions: ActionMap) -> None:
        self._choices = [frozenset(choice.keys) for choice in actions.choices]

    def action(self, hands: Hands) -> int:
        fitting = [index for index, keys in enumerate(self._choices) if keys <= hands.down]
        return max(fitting, key=lambda index: len(self._choices[index]), default=0)


class _Taps:
    """One press a step, in the order in which they came; what is more waits for the next step."""

    def __init__(self, actions: ActionMap) -> None:
        self._by_key = {choice.keys[-1]: index for index, choice in enumerate(actions.choices) if choice.keys}
        self._idle = next((index for index, choice in enumerate(actions.choices) if not choice.keys), 0)
        self._waiting: list[int] = []

    def action(self, hands: Hands) -> int:
        self._waiting += [self._by_key[key] for key in hands.pressed if key in self._by_key]
        return self._waiting.pop(0) if self._waiting else self._idle


class _Parts:
    """Each key that was down, and for environments with a pointer where it was, and its buttons."""

    def __init__(self, actions: ActionMap) -> None:
        self._actions = actions

    def action(self, hands: Hands) -> Any:
        actions = self._actions
        keys = np.array([key in hands.down for key in actions.keys], np.int8)
        if actions.kind == "keys":
            return keys
        left, top, width, height = actions.box
        place = [min(max(hands.x - left, 0), width - 1), min(max(hands.y - top, 0), height - 1)]
        buttons = np.array([hands.clicked >> bit & 1 for bit in range(BUTTONS)], np.int8)
        parts = {"pointer": np.array(place, np.int64), "buttons": buttons}
        return parts | {"keys": keys} if actions.keys else parts
