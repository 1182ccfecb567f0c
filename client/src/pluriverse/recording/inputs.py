"""A person's keys and pointer within a step, as the action of an agent that would have done the same. Pure."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from pluriverse_protocol.events import Event, JoystickEvent, KeyEvent, PointerEvent, RelativePointerEvent, SubmitEvent
from pluriverse_protocol.pads import PLACES, fitted

from pluriverse.adapters.actions import ActionMap

Action = Any
"""A choice's index, an int8 for each key, or a dict of ``pointer`` (int64), ``buttons`` and ``keys`` (int8).

Of gamepads there are ``axes`` (float32) instead of the pointer.
"""


class HeldInputs:
    """Keys and buttons that are held, and those that were down at any time since the last step.

    A key that was pressed and released within one step counts as pressed in it, so that no input is lost.
    """

    def __init__(self) -> None:
        self.x: int = 0
        self.y: int = 0
        self.dx: int = 0
        self.dy: int = 0
        self._keys: set[int] = set()
        self._buttons = 0
        self.pressed: list[int] = []
        self.down: set[int] = set()
        self.clicked: int = 0
        self.submitted: bool = False
        self._pads: dict[str, float] = {}
        self.tilted: dict[str, float] = {}

    def take(self, event: Event) -> None:
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
            case RelativePointerEvent(dx, dy, buttonmask):
                self.dx, self.dy, self._buttons = self.dx + dx, self.dy + dy, buttonmask
                self.clicked |= buttonmask
            case SubmitEvent():
                self.submitted = True
            case JoystickEvent(name, value):
                self._pads[name] = value
                pressed = self.tilted.get(name, 0.0) if "Button" in name else value
                self.tilted[name] = max(pressed, value)

    def step(self) -> None:
        self.pressed = []
        self.down = set(self._keys)
        self.clicked = self._buttons
        self.dx = self.dy = 0
        self.submitted = False
        self.tilted = dict(self._pads)


ActionReader = Callable[[HeldInputs], Action]
"""Turns the inputs of a step into an action, as the action space has it."""


def action_reader(actions: ActionMap) -> ActionReader:
    """Return the reader for an environment with ``actions``; raise ``ValueError`` if they are lists of events."""
    match actions.kind:
        case "discrete":
            return _taps(actions) if actions.tap else _choices(actions)
        case "pads":
            return partial(_pads, actions)
        case "keys" | "pointer":
            return partial(_keys_and_pointer, actions)
        case "events":
            raise ValueError("lists of events have no space of a fixed size; expected discrete, pads, keys or pointer")


def _choices(actions: ActionMap) -> ActionReader:
    """Return the choice with the most keys, all of which were down."""
    choices = [frozenset(choice.keys) for choice in actions.choices]

    def read(inputs: HeldInputs) -> int:
        if inputs.submitted and actions.submit:
            return actions.n - 1
        fitting = [index for index, keys in enumerate(choices) if keys <= inputs.down]
        return max(fitting, key=lambda index: len(choices[index]), default=0)

    return read


def _taps(actions: ActionMap) -> ActionReader:
    """Return one press a step, in the order in which they came; the rest wait for the next steps."""
    by_key = {choice.keys[-1]: index for index, choice in enumerate(actions.choices) if choice.keys}
    idle = next((index for index, choice in enumerate(actions.choices) if not choice.keys), 0)
    waiting: list[int] = []

    def read(inputs: HeldInputs) -> int:
        waiting.extend(by_key[key] for key in inputs.pressed if key in by_key)
        return waiting.pop(0) if waiting else idle

    return read


def _pads(actions: ActionMap, inputs: HeldInputs) -> Action:
    """Return the axes as they were last, and each button and key that was down."""
    axes = [fitted(PLACES[name][1], inputs.tilted.get(name, 0.0)) for name in actions.axes]
    buttons = [fitted(PLACES[name][1], inputs.tilted.get(name, 0.0)) for name in actions.pad_buttons]
    parts = {"axes": np.array(axes, np.float32), "buttons": np.array(buttons, np.int8)}
    keys = np.array([key in inputs.down for key in actions.keys], np.int8)
    return parts | {"keys": keys} if actions.keys else parts


def _keys_and_pointer(actions: ActionMap, inputs: HeldInputs) -> Action:
    """Return each key that was down; with a pointer also its place or movement, and the buttons that were down."""
    keys = np.array([key in inputs.down for key in actions.keys], np.int8)
    submit = {"submit": np.array([inputs.submitted], np.int8)} if actions.submit else {}
    if actions.kind == "keys":
        return {"keys": keys, **submit} if submit else keys
    left, top, _, _ = actions.box
    part = actions.arrays()["pointer"]
    x, y = (inputs.dx, inputs.dy) if actions.relative else (inputs.x - left, inputs.y - top)
    place = np.clip((x, y), part.least, part.most)
    buttons = np.array([inputs.clicked >> bit & 1 for bit in range(actions.buttons)], np.int8)
    parts = {"pointer": place.astype(np.int64), "buttons": buttons, **submit}
    return parts | {"keys": keys} if actions.keys else parts
