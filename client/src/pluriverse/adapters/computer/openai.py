"""OpenAI's computer tool: the actions of a ``computer_call``, and its ``computer_call_output``. Pure.

Beyond it, the number of a ``mark`` may stand for x and y.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from pluriverse.errors import ActionError

from .acts import (
    MAX_BATCH,
    MAX_PATH_POINTS,
    MAX_TEXT_CHARS,
    MAX_WHEEL_CLICKS,
    Act,
    Button,
    Chord,
    Click,
    Drag,
    Look,
    Move,
    Press,
    Scroll,
    Type,
    Wait,
)
from .answer import Answer, Image
from .fields import SHOWN, Fields, text_of
from .key_names import MAX_CHORD, chord, together

# Pixels that a page goes by for a click of the wheel, about.
PIXELS_OF_A_CLICK: Final = 100

# ``wait`` has no time; this is what their examples wait.
WAIT_S: Final = 2.0

_BUTTONS: Final[dict[str, Button]] = {
    "left": "left",
    "right": "right",
    "wheel": "middle",
    "back": "back",
    "forward": "forward",
}


def actions(call: Any) -> list[Any]:
    """Return the actions of a ``computer_call``, unread. Its ``pending_safety_checks`` are its user's to acknowledge.

    Raises:
        ActionError: it is no such call, or has too many.
    """
    fields = Fields("a computer_call", call)
    given = cast("list[Any]", fields.items("actions", MAX_BATCH, []))
    return given or ([fields.mapping("action")] if fields.has("action") else [])


def read(action: Any) -> Act:
    """Return what one action asks for.

    Raises:
        ActionError: it is none; says what was expected.
    """
    fields = Fields("an action", action)
    name = fields.text("type", SHOWN)
    reader = _READERS.get(name)
    if reader is None:
        raise ActionError(f"there is no action {name!r}; expected one of {', '.join(_READERS)}")
    fields.action = name
    act = reader(fields)
    fields.done()
    return act


def answer(
    call: Any, answers: Sequence[Answer], image: Image, acknowledged: Sequence[Mapping[str, Any]] = ()
) -> list[dict[str, Any]]:
    """Return the items that answer a ``computer_call``: its output, and if an action failed, what the model is told.

    ``answers`` are to its actions, ``image`` is of the screen after them, and ``acknowledged`` are its safety checks
    that a user has.
    """
    data = base64.b64encode(image.data).decode()
    output: dict[str, Any] = {
        "type": "computer_call_output",
        "call_id": text_of(call, "call_id"),
        "output": {"type": "computer_screenshot", "image_url": f"data:{image.media_type};base64,{data}"},
        "status": "incomplete" if any(each.failed for each in answers) else "completed",
    }
    if acknowledged:
        output["acknowledged_safety_checks"] = list(acknowledged)
    texts = [f"action {number}: {each.text}" for number, each in enumerate(answers, 1) if each.text]
    if not texts:
        return [output]
    said = {"type": "input_text", "text": "\n".join(texts)}
    return [output, {"type": "message", "role": "user", "content": [said]}]


def _holding(fields: Fields) -> Chord:
    names = fields.items("keys", MAX_CHORD, ())
    if not all(isinstance(name, str) for name in names):
        raise ActionError(f"{fields.action}: keys are {names!r:.{SHOWN}}; expected names of keys")
    # Some put a whole chord into one name.
    return chord(names[0]) if len(names) == 1 else together(names)


def _keypress(fields: Fields) -> Act:
    keys = _holding(fields)
    if not keys:
        raise ActionError("keypress needs keys")
    return Press(keys)


def _drag(fields: Fields) -> Act:
    path = [Fields("a point of the path", point).xy() for point in fields.items("path", MAX_PATH_POINTS)]
    if len(path) < 2:
        raise ActionError(f"drag: the path has {len(path)} points; expected at least two")
    return Drag(tuple(path), _holding(fields))


def _scroll(fields: Fields) -> Act:
    at = fields.xy()
    right, down = (_clicks(fields.integer(name, -(10**6), 10**6, 0)) for name in ("scroll_x", "scroll_y"))
    return Scroll(right, down, at, _holding(fields))


def _clicks(pixels: int) -> int:
    """Clicks of the wheel for a distance: at least one for any, and no more than are taken at once."""
    clicks = min(MAX_WHEEL_CLICKS, -(-abs(pixels) // PIXELS_OF_A_CLICK))
    return clicks if pixels > 0 else -clicks


_READERS: Final[dict[str, Callable[[Fields], Act]]] = {
    "click": lambda fields: Click(fields.choice("button", _BUTTONS), fields.xy(), 1, _holding(fields)),
    "double_click": lambda fields: Click("left", fields.xy(), 2, _holding(fields)),
    "drag": _drag,
    "move": lambda fields: Move(fields.xy(), _holding(fields)),
    "scroll": _scroll,
    "keypress": _keypress,
    "type": lambda fields: Type(fields.text("text", MAX_TEXT_CHARS)),
    "wait": lambda _: Wait(WAIT_S),
    "screenshot": lambda _: Look(),
}
