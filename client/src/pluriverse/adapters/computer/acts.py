"""What a model does with a computer, in the same form for every model. Pure.

Points are pixels of the picture that it was given last; a mark stands for the middle of what it was drawn around.
``None`` for a place is where the pointer is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from pluriverse_protocol.events import Event

from .view import Point

Button = Literal["left", "middle", "right", "back", "forward"]
Chord = tuple[int, ...]

# What one action may ask for; more takes more actions, with a look in between.
MAX_TEXT_CHARS: Final = 10_000
MAX_REPEAT: Final = 100
MAX_SECONDS: Final = 100.0
MAX_STEP_FRAMES: Final = 6000
MAX_WHEEL_CLICKS: Final = 100
MAX_PATH_POINTS: Final = 1000
MAX_EVENTS: Final = 1000
MAX_BATCH: Final = 100


@dataclass(frozen=True, slots=True)
class Mark:
    """A place by its number in the tree or picture that the model was given last."""

    number: int


Place = Point | Mark


@dataclass(frozen=True, slots=True)
class Move:
    """Move the pointer, with some keys held."""

    to: Place
    holding: Chord = ()


@dataclass(frozen=True, slots=True)
class Click:
    """Click, ``count`` times so quickly that they belong together, with some keys held."""

    button: Button = "left"
    at: Place | None = None
    count: int = 1
    holding: Chord = ()


@dataclass(frozen=True, slots=True)
class Hold:
    """Press the left button, or release it; it stays as it is until another action."""

    down: bool


@dataclass(frozen=True, slots=True)
class Drag:
    """Press the left button at the first place, go along the others, and release it at the last."""

    path: tuple[Place, ...]
    holding: Chord = ()


@dataclass(frozen=True, slots=True)
class Scroll:
    """Turn the wheel: so many clicks to the right (negative: left) and down (negative: up)."""

    right: int
    down: int
    at: Place | None = None
    holding: Chord = ()


@dataclass(frozen=True, slots=True)
class Type:
    text: str


@dataclass(frozen=True, slots=True)
class Press:
    """Press keys together, and release them after ``seconds`` (None: as soon as a program has seen it); repeatedly."""

    keys: Chord
    repeat: int = 1
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    seconds: float


@dataclass(frozen=True, slots=True)
class Step:
    """Let so many frames pass."""

    frames: int


@dataclass(frozen=True, slots=True)
class Submit:
    """Say that it is done: the episode ends, and is graded as it is then."""


@dataclass(frozen=True, slots=True)
class Look:
    """Give the model a picture: of the screen, or of a part (left, top, right, bottom) enlarged."""

    region: tuple[int, int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Where:
    """Return the pointer's position to the model."""


@dataclass(frozen=True, slots=True)
class ActFor:
    """Do ``events``, each at its milliseconds from the beginning, and let ``ms`` milliseconds pass in all.

    Pointer events are in pixels of the picture.
    """

    events: tuple[tuple[float, Event], ...]
    ms: float


Act = Move | Click | Hold | Drag | Scroll | Type | Press | Wait | Step | Submit | Look | Where | ActFor
