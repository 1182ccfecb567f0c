"""What models ask of a computer: calls of tools, each a name and its arguments, which MCP's clients have, too.

>>> read({"name": "click", "arguments": {"x": 40, "y": 90}})
Click(button='left', at=(40, 90), count=1, holding=())
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, validate_call

from pluriverse.errors import ActionError

from .acts import (
    MAX_PATH_POINTS,
    MAX_REPEAT,
    MAX_SECONDS,
    MAX_STEP_FRAMES,
    MAX_TEXT_CHARS,
    MAX_WHEEL_CLICKS,
    Act,
    Button,
    Chord,
    Click,
    Drag,
    Hold,
    Look,
    Mark,
    Move,
    Place,
    Press,
    Scroll,
    Step,
    Submit,
    Type,
    Wait,
)
from .key_names import chord
from .tree import MAX_MARKS

X = Annotated[int | None, Field(description="pixels from the left edge of the picture")]
Y = Annotated[int | None, Field(description="pixels from the top edge of the picture")]
MarkNumber = Annotated[int | None, Field(ge=1, le=MAX_MARKS, description="the number of a mark, instead of x and y")]
Keys = Annotated[str, Field(description="keys joined by +, such as ctrl+s", max_length=200)]
Holding = Annotated[str, Field(description="keys to hold meanwhile, joined by +, such as ctrl+shift", max_length=200)]
Region = Annotated[
    tuple[int, int, int, int] | None, Field(description="[left, top, right, bottom] of a part to enlarge")
]


def click(
    x: X = None,
    y: Y = None,
    mark: MarkNumber = None,
    button: Annotated[Button, Field(description="the button of the mouse")] = "left",
    count: Annotated[int, Field(ge=1, le=3, description="2: a double click")] = 1,
    holding: Holding = "",
) -> Act:
    """Click at a place, at a mark or where the pointer is: once, twice or three times, with keys held."""
    return Click(button, _place(x, y, mark), count, _chord(holding))


def move_pointer(x: X = None, y: Y = None, mark: MarkNumber = None, holding: Holding = "") -> Act:
    """Move the pointer to a place or a mark, with keys held."""
    to = _place(x, y, mark)
    if to is None:
        raise ActionError("a position is either x and y, or a mark")
    return Move(to, _chord(holding))


def hold_button(down: Annotated[bool, Field(description="true: press it; false: release it")]) -> Act:
    """Press the left button where the pointer is, or release it; it stays so until another call changes it."""
    return Hold(down)


def drag(
    path: Annotated[
        list[tuple[int, int] | int],
        Field(min_length=2, max_length=MAX_PATH_POINTS, description="each [x, y], or the number of a mark"),
    ],
    holding: Holding = "",
) -> Act:
    """Press the left button at the first place, go along the others, and release it at the last."""
    return Drag(tuple(Mark(place) if isinstance(place, int) else place for place in path), _chord(holding))


def scroll(
    down: Annotated[
        int, Field(ge=-MAX_WHEEL_CLICKS, le=MAX_WHEEL_CLICKS, description="clicks of the wheel; negative: up")
    ],
    right: Annotated[
        int, Field(ge=-MAX_WHEEL_CLICKS, le=MAX_WHEEL_CLICKS, description="clicks of the wheel; negative: left")
    ] = 0,
    x: X = None,
    y: Y = None,
    mark: MarkNumber = None,
    holding: Holding = "",
) -> Act:
    """Turn the wheel by clicks, at a place, at a mark or where the pointer is."""
    return Scroll(right, down, _place(x, y, mark), _chord(holding))


def type_text(text: Annotated[str, Field(max_length=MAX_TEXT_CHARS, description="what to type")]) -> Act:
    """Type a text into what has the focus; any Unicode, a newline is Return."""
    return Type(text)


def press_keys(
    keys: Keys,
    repeat: Annotated[int, Field(ge=1, le=MAX_REPEAT, description="how many times")] = 1,
    seconds: Annotated[
        float | None, Field(ge=0, le=MAX_SECONDS, description="how long to hold them; null: a short press")
    ] = None,
) -> Act:
    """Press keys together, such as ctrl+s, and release them."""
    return Press(chord(keys), repeat, seconds)


def wait(seconds: Annotated[float, Field(ge=0, le=MAX_SECONDS, description="how long")]) -> Act:
    """Let time pass; in lockstep that of the environment."""
    return Wait(seconds)


def step_frames(
    frames: Annotated[int, Field(ge=1, le=MAX_STEP_FRAMES, description="how many")],
) -> Act:
    """Let frames of the environment's time pass, exactly so many in lockstep."""
    return Step(frames)


def submit() -> Act:
    """Say that you are done: the episode ends, and is graded as it is then."""
    return Submit()


def look(region: Region = None) -> Act:
    """Look at the screen, or at a part of it enlarged."""
    return Look(region)


ACTING: Final[tuple[Callable[..., Act], ...]] = (
    click, move_pointer, hold_button, drag, scroll, type_text, press_keys, wait, step_frames, submit,
)  # fmt: skip
_CHECKED: Final = {call.__name__: validate_call(call) for call in (*ACTING, look)}


class Call(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    arguments: dict[str, Any] = {}


def read(call: Any) -> Act:
    name = "a call"
    try:
        asked = Call.model_validate(call)
        name = asked.name
        checked = _CHECKED.get(name)
        if checked is None:
            raise ActionError(f"unknown action {name!r:.80}; expected one of {', '.join(_CHECKED)}")
        return checked(**asked.arguments)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ActionError(f"{name}: {where:.80}: {first['msg']}, got {first['input']!r:.80}") from error


def _place(x: int | None, y: int | None, mark: int | None) -> Place | None:
    match x, y, mark:
        case None, None, None:
            return None
        case None, None, int(number):
            return Mark(number)
        case int(), int(), None:
            return x, y
        case _:
            raise ActionError("a position is either x and y, or a mark")


def _chord(names: str) -> Chord:
    return chord(names) if names else ()
