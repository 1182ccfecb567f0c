"""Anthropic's computer toolset, ``computer_toolset_20260801``, and its computer tool, ``computer_20251124``. Pure.

Beyond them, the number of a ``mark`` (of a drag's beginning, ``start_mark``) may stand for a coordinate.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, Final

from pluriverse.errors import ActionError

from .acts import (
    MAX_REPEAT,
    MAX_SECONDS,
    MAX_TEXT_CHARS,
    MAX_WHEEL_CLICKS,
    Act,
    Button,
    Chord,
    Click,
    Drag,
    Hold,
    Look,
    Move,
    Press,
    Scroll,
    Type,
    Wait,
    Where,
)
from .answer import Answer
from .fields import SHOWN, Fields, text_of
from .key_names import chord

# A chord's names are few.
_CHORD_CHARS: Final = 200

_SCROLLS: Final = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


def read(block: Any) -> Act:
    """Return what a ``tool_use`` block asks for: the name of a member of the toolset, or of the tool ``computer``.

    Raises:
        ActionError: it is no such block, or asks for what isn't there.
    """
    fields = Fields("a tool_use block", block)
    name, given = fields.text("name", SHOWN), fields.mapping("input")
    if name == "computer" and "action" in given:
        name = Fields("computer", given).text("action", SHOWN)
        given = {key: value for key, value in given.items() if key != "action"}
    reader = _READERS.get(name)
    if reader is None:
        raise ActionError(f"there is no action {name!r}; expected one of {', '.join(_READERS)}")
    fields = Fields(name, given)
    act = reader(fields)
    fields.done()
    return act


def answer(block: Any, answered: Answer) -> dict[str, Any]:
    """Return the ``tool_result`` block of a ``tool_use`` block; it is of the toolset that this is of."""
    content: list[dict[str, Any]] = []
    if answered.text:
        content.append({"type": "text", "text": answered.text})
    if answered.image is not None:
        data = base64.b64encode(answered.image.data).decode()
        source = {"type": "base64", "media_type": answered.image.media_type, "data": data}
        content.append({"type": "image", "source": source})
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": text_of(block, "id"), "content": content}
    if toolset := text_of(block, "toolset_name"):
        result["toolset_name"] = toolset
    if answered.failed:
        result["is_error"] = True
    return result


def _click(button: Button, count: int = 1) -> Callable[[Fields], Act]:
    return lambda fields: Click(button, fields.place("coordinate", None), count, _holding(fields))


def _holding(fields: Fields) -> Chord:
    names = fields.text("text", _CHORD_CHARS, "")
    return chord(names) if names else ()


def _scroll(fields: Fields) -> Act:
    right, down = fields.choice("scroll_direction", _SCROLLS)
    amount = fields.integer("scroll_amount", 0, MAX_WHEEL_CLICKS)
    return Scroll(right * amount, down * amount, fields.place("coordinate", None), _holding(fields))


def _drag(fields: Fields) -> Act:
    return Drag((fields.place("start_coordinate", mark="start_mark"), fields.place("coordinate")), _holding(fields))


def _key(fields: Fields) -> Act:
    return Press(chord(fields.text("text", _CHORD_CHARS)), fields.integer("repeat", 1, MAX_REPEAT, 1))


def _hold_key(fields: Fields) -> Act:
    keys = chord(fields.text("text", _CHORD_CHARS))
    return Press(keys, seconds=float(fields.number("duration", 0, MAX_SECONDS)))


_READERS: Final[dict[str, Callable[[Fields], Act]]] = {
    "screenshot": lambda _: Look(),
    "zoom": lambda fields: Look(fields.numbers("region", 4)),
    "cursor_position": lambda _: Where(),
    "mouse_move": lambda fields: Move(fields.place("coordinate")),
    "left_click": _click("left"),
    "right_click": _click("right"),
    "middle_click": _click("middle"),
    "double_click": _click("left", 2),
    "triple_click": _click("left", 3),
    "left_click_drag": _drag,
    "left_mouse_down": lambda _: Hold(True),
    "left_mouse_up": lambda _: Hold(False),
    "scroll": _scroll,
    "type": lambda fields: Type(fields.text("text", MAX_TEXT_CHARS)),
    "key": _key,
    "hold_key": _hold_key,
    "wait": lambda fields: Wait(float(fields.number("duration", 0, MAX_SECONDS))),
}
