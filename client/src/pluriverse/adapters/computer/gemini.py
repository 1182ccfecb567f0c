"""Gemini's computer use: its function calls, whose coordinates are a grid of 1000 by 1000 over the picture. Pure.

Beyond it, the number of a ``mark`` (of a drag's end, ``destination_mark``) may stand for coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pluriverse.errors import ActionError

from .acts import MAX_TEXT_CHARS, Act, Click, Drag, Look, Mark, Move, Place, Press, Scroll, Type, Wait
from .fields import SHOWN, Fields
from .key_names import XF86_BACK, XF86_FORWARD, chord
from .view import Point, View

# Coordinates are 0 to 999, whatever size the picture has.
GRID: Final = 1000

# ``wait_5_seconds``.
WAIT_S: Final = 5.0

_CHORD_CHARS: Final = 200

# Of the grid, by a click of the wheel, about; and how far ``scroll_document`` goes.
MAGNITUDE_OF_A_CLICK: Final = 100
DOCUMENT_CLICKS: Final = 5

_DIRECTIONS: Final = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
_SELECT_ALL: Final = chord("ctrl+a")
_DELETE: Final = chord("Delete")
_ENTER: Final = chord("Return")


def point(place: Point, view: View) -> Point:
    """Return the pixel of the picture in the middle of a cell of the grid.

    Raises:
        ActionError: it is outside of the grid.
    """
    x, y = place
    if not (0 <= x < GRID and 0 <= y < GRID):
        raise ActionError(f"({x}, {y}) is outside of the grid; expected 0 to {GRID - 1}")
    return View((0, 0, view.width, view.height), GRID, GRID).to_screen(place)


def read(call: Any, view: View) -> list[Act]:
    """Return what a function call (``name``, ``args``) asks for, to be done one after the other.

    Its ``safety_decision``, if there is one, is a user's to confirm before.

    Raises:
        ActionError: it is no such call, or asks for what isn't there.
    """
    fields = Fields("a function call", call)
    name = fields.text("name", SHOWN)
    reader = _READERS.get(name)
    if reader is None:
        raise ActionError(f"there is no function {name!r}; expected one of {', '.join(_READERS)}")
    given: Mapping[str, Any] = fields.mapping("args") if fields.has("args") else {}
    arguments = Fields(name, {each: value for each, value in given.items() if each != "safety_decision"})
    acts = reader(arguments, view)
    arguments.done()
    return acts


def _at(fields: Fields, view: View, of: str = "") -> Place:
    place = fields.xy(f"{of}x", f"{of}y", f"{of}mark")
    return place if isinstance(place, Mark) else point(place, view)


def _type(fields: Fields, view: View) -> list[Act]:
    acts: list[Act] = [Click("left", _at(fields, view))]
    if fields.flag("clear_before_typing", True):
        acts += Press(_SELECT_ALL), Press(_DELETE)
    acts.append(Type(fields.text("text", MAX_TEXT_CHARS)))
    if fields.flag("press_enter", True):
        acts.append(Press(_ENTER))
    return acts


def _scroll(fields: Fields, view: View) -> list[Act]:
    right, down = fields.choice("direction", _DIRECTIONS)
    clicks = -(-fields.integer("magnitude", 1, GRID, 800) // MAGNITUDE_OF_A_CLICK)
    return [Scroll(right * clicks, down * clicks, _at(fields, view))]


def _scroll_document(fields: Fields, view: View) -> list[Act]:
    right, down = fields.choice("direction", _DIRECTIONS)
    middle = view.width // 2, view.height // 2
    return [Scroll(right * DOCUMENT_CLICKS, down * DOCUMENT_CLICKS, middle)]


_READERS: Final[dict[str, Callable[[Fields, View], list[Act]]]] = {
    # It is open; models begin with this nevertheless.
    "open_web_browser": lambda _, __: [Look()],
    "click_at": lambda fields, view: [Click("left", _at(fields, view))],
    "hover_at": lambda fields, view: [Move(_at(fields, view))],
    "type_text_at": _type,
    "key_combination": lambda fields, _: [Press(chord(fields.text("keys", _CHORD_CHARS)))],
    "scroll_at": _scroll,
    "scroll_document": _scroll_document,
    "drag_and_drop": lambda fields, view: [Drag((_at(fields, view), _at(fields, view, "destination_")))],
    "wait_5_seconds": lambda _, __: [Wait(WAIT_S)],
    "go_back": lambda _, __: [Press((XF86_BACK,))],
    "go_forward": lambda _, __: [Press((XF86_FORWARD,))],
}
