"""An agent's input events: keys, pointer, joystick. On the wire each is a list that begins with its name."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Final, cast

from .limits import MAX_COORDINATE, MAX_KEYSYM

# Agents name axes, sliders and buttons as their toolkits do (JoystickAxisXEvent, JoystickAxisZEvent, …); the program
# decides which of them mean something.
JOYSTICK_NAME: Final = re.compile(r"Joystick[A-Za-z0-9]{1,32}Event")

# Left, middle, right, the four ways of a wheel, back and forward: what X programs know, and RFB with its extension.
BUTTONS: Final = 9
MAX_BUTTONMASK: Final = (1 << BUTTONS) - 1


@dataclass(frozen=True, slots=True)
class KeyEvent:
    """A key, by X keysym, goes down or up."""

    keysym: int
    down: bool


@dataclass(frozen=True, slots=True)
class PointerEvent:
    """The pointer is at (x, y) pixels from the top left, with the buttons of ``buttonmask`` held (bit 0: left)."""

    x: int
    y: int
    buttonmask: int


@dataclass(frozen=True, slots=True)
class JoystickEvent:
    """A joystick's axis or button takes a value."""

    name: str
    value: float


Event = KeyEvent | PointerEvent | JoystickEvent


def to_wire(event: Event) -> list[Any]:
    match event:
        case KeyEvent(keysym, down):
            return ["KeyEvent", keysym, down]
        case PointerEvent(x, y, buttonmask):
            return ["PointerEvent", x, y, buttonmask]
        case JoystickEvent(name, value):
            return [name, value]


def from_wire(item: object) -> Event:
    if not isinstance(item, list) or not item:
        raise ValueError(f"an event is a list that begins with its name, got {item!r:.80}")
    name, *arguments = cast("list[Any]", item)
    match name:
        case "KeyEvent":
            return _key_event(*arguments)
        case "PointerEvent":
            return _pointer_event(*arguments)
        case _:
            return _joystick_event(name, *arguments)


def checked(event: Event) -> Event:
    """Return an event that was made by hand, as ``from_wire`` would."""
    match event:
        case KeyEvent(keysym, down):
            return _key_event(keysym, down)
        case PointerEvent(x, y, buttonmask):
            return _pointer_event(x, y, buttonmask)
        case JoystickEvent(name, value):
            return _joystick_event(name, value)


def _key_event(*arguments: Any) -> KeyEvent:
    match arguments:
        # Old agents send 0 and 1 as well as false and true.
        case [int() as keysym, bool() | 0 | 1 as down] if _is_int(keysym, MAX_KEYSYM):
            return KeyEvent(keysym, bool(down))
        case _:
            raise ValueError(
                f"KeyEvent takes a keysym of 0 to {MAX_KEYSYM:#x} and a boolean, got {list(arguments)!r:.80}"
            )


def _pointer_event(*arguments: Any) -> PointerEvent:
    limits = (MAX_COORDINATE, MAX_COORDINATE, MAX_BUTTONMASK)
    if len(arguments) == len(limits) and all(map(_is_int, arguments, limits)):
        return PointerEvent(*arguments)
    raise ValueError(
        f"PointerEvent takes x and y of 0 to {MAX_COORDINATE} and a button mask of 0 to {MAX_BUTTONMASK}, "
        f"got {list(arguments)!r:.80}"
    )


def _joystick_event(name: object, *arguments: Any) -> JoystickEvent:
    if not isinstance(name, str) or not JOYSTICK_NAME.fullmatch(name):
        raise ValueError(f"unknown event {name!r:.80}; known: KeyEvent, PointerEvent, Joystick…Event")
    match arguments:
        case [int() | float() as value] if not isinstance(value, bool) and _is_finite(value):
            return JoystickEvent(name, float(value))
        case _:
            raise ValueError(f"{name} takes one finite number, got {list(arguments)!r:.80}")


def _is_int(value: object, maximum: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= maximum


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
