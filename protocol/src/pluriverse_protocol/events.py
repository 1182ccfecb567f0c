"""An agent's events: keys, pointer, joystick, and that it is done. On the wire each is a list, its name first."""

from __future__ import annotations

import re
import sys
from typing import Annotated, Any, Final, cast

import msgspec
from msgspec import Meta, Struct

from .limits import MAX_COORDINATE, MAX_KEYSYM, MAX_MOTION

# Agents name axes, sliders and buttons as their toolkits do (JoystickAxisXEvent, JoystickAxisZEvent, …); the program
# decides which of them mean something.
_JOYSTICK: Final = r"^Joystick[A-Za-z0-9]{1,32}Event\Z"
MAX_JOYSTICK_CHARS: Final = len("Joystick") + 32 + len("Event")

# Left, middle, right, the four ways of a wheel, back and forward: what X programs know, and RFB with its extension.
BUTTONS: Final = 9
MAX_BUTTONMASK: Final = (1 << BUTTONS) - 1

_Coordinate = Annotated[int, Meta(ge=0, le=MAX_COORDINATE)]
_Motion = Annotated[int, Meta(ge=-MAX_MOTION, le=MAX_MOTION)]
_Mask = Annotated[int, Meta(ge=0, le=MAX_BUTTONMASK)]


class AnyEvent:
    """What msgspec reads by a hook: of a union it can't tell by their names which lists are of joysticks."""

    __slots__ = ()


class _Listed(Struct, AnyEvent, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What is a list on the wire."""


class KeyEvent(_Listed, frozen=True, tag="KeyEvent"):
    """A key, by X keysym, goes down or up."""

    keysym: Annotated[int, Meta(ge=0, le=MAX_KEYSYM)]
    down: bool


class PointerEvent(_Listed, frozen=True, tag="PointerEvent"):
    """The pointer is at (x, y) pixels from the top left, with the buttons of ``buttonmask`` held (bit 0: left)."""

    x: _Coordinate
    y: _Coordinate
    buttonmask: _Mask


class RelativePointerEvent(_Listed, frozen=True, tag="RelativePointerEvent"):
    """The pointer moves by (dx, dy) pixels, right and down, with the buttons of ``buttonmask`` held.

    For programs that grab the pointer: to them, a place is a jump.
    """

    dx: _Motion
    dy: _Motion
    buttonmask: _Mask


class SubmitEvent(_Listed, frozen=True, tag="SubmitEvent"):
    """The agent says that it is done: the episode ends, with the grade of what is there."""


class JoystickEvent(_Listed, frozen=True):
    """A joystick's axis or button takes a value."""

    name: Annotated[str, Meta(pattern=_JOYSTICK)]
    value: Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]


ScreenEvent = KeyEvent | PointerEvent | RelativePointerEvent
"""What a screen takes in."""

Event = ScreenEvent | JoystickEvent | SubmitEvent

_NAMED: Final[dict[Any, type[Event]]] = {
    kind.__name__: kind for kind in (KeyEvent, PointerEvent, RelativePointerEvent, SubmitEvent)
}
_TAKES: Final[dict[type[Event], str]] = {
    KeyEvent: f"a keysym of 0 to {MAX_KEYSYM:#x} and a boolean",
    PointerEvent: f"x and y of 0 to {MAX_COORDINATE} and a button mask of 0 to {MAX_BUTTONMASK}",
    RelativePointerEvent: f"dx and dy of -{MAX_MOTION} to {MAX_MOTION} and a button mask of 0 to {MAX_BUTTONMASK}",
    SubmitEvent: "nothing",
    JoystickEvent: "one finite number",
}


def to_wire(event: Event) -> list[Any]:
    return msgspec.to_builtins(event)


def from_wire(item: object) -> Event:
    if not isinstance(item, list) or not item:
        raise ValueError(f"an event is a list that begins with its name, got {item!r:.80}")
    name, *arguments = cast("list[Any]", item)
    kind = _NAMED.get(name, JoystickEvent) if isinstance(name, str) else JoystickEvent
    try:
        return msgspec.convert(cast("list[Any]", item), kind)
    except msgspec.ValidationError:
        # Old agents send 0 and 1 as well as false and true.
        if kind is KeyEvent and len(arguments) == 2 and type(arguments[1]) is int and arguments[1] in (0, 1):
            return from_wire([name, arguments[0], bool(arguments[1])])
        if kind is JoystickEvent and not (isinstance(name, str) and re.match(_JOYSTICK, name)):
            raise ValueError(f"unknown event {name!r:.80}; known: {', '.join(_NAMED)}, Joystick…Event") from None
        raise ValueError(f"{name} takes {_TAKES[kind]}, got {arguments!r:.80}") from None


def checked(event: Event) -> Event:
    """Return an event that was made by hand, as ``from_wire`` would."""
    return from_wire(to_wire(event))
