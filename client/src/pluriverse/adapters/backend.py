"""What a core has in common with the two clocks that it is played by: who was asked, who has answered."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from types import TracebackType
from typing import Final, Protocol

from pluriverse_protocol.events import Event

from pluriverse.errors import ActionError, Misuse, ResetNeeded
from pluriverse.rewarder.result import Result

from .pictures import Pictures, Pixels

# Errors after which nothing was done.
NOT_DONE: Final = (ActionError, Misuse, ResetNeeded)


class Phase(Enum):
    """What an environment waits for."""

    NEW = auto()
    """Its first reset."""
    RESETTING = auto()
    """An episode's first frame."""
    STEPPING = auto()
    """The frame after an action."""
    READY = auto()
    """Its agent."""
    ENDED = auto()
    """A reset: the episode is over."""


def require_ready(phase: Phase, index: int) -> None:
    """Check that the agent may act; errors call the environment by its ``index``."""
    if phase is Phase.READY:
        return
    if phase is Phase.NEW:
        raise ResetNeeded(f"environment {index} has not been reset; call reset() before the first step")
    if phase is Phase.ENDED:
        raise ResetNeeded(f"the episode of environment {index} is over; call reset() before the next step")
    raise Misuse(
        f"environment {index} has not answered its last call; receive that answer first: with recv, or after an "
        "interrupted step with the next one"
    )


class Whole:
    """A context for what is done whole or not at all; ``broken`` if it broke off in the middle.

    Each step of many environments goes through some, so ``note`` may be called of an ``except`` instead.
    """

    __slots__ = ("broken",)

    def __init__(self) -> None:
        self.broken: bool = False

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.note(error)

    def note(self, error: BaseException) -> None:
        """Note that an error interrupted a call, unless nothing was done."""
        self.broken = self.broken or not isinstance(error, NOT_DONE)


class Answers:
    """Which environments were asked and have yet to answer, and which have answered and weren't received."""

    def __init__(self) -> None:
        self.whole: Whole = Whole()
        self.waiting: dict[int, None] = {}
        """In the order in which they were asked, so that the one that waits longest is looked at first."""
        self.ready: deque[int] = deque()
        self.heard_at: float = 0.0
        """When something came that answers nothing yet, but shows that an answer is on its way."""

    def clear(self) -> None:
        self.waiting.clear()
        self.ready.clear()


class Game(Protocol):
    """One environment: what it waits for, and its last answer."""

    phase: Phase
    result: Result


class Backend(Protocol):
    """Environments by one of the clocks. What they answer they note in ``Answers``, while that is ``whole``."""

    pictures: Pictures

    @property
    def games(self) -> Sequence[Game]: ...

    @property
    def exact(self) -> bool:
        """Whether the same seed and actions give the same frames and rewards."""
        ...

    def screen(self, index: int) -> Pixels:
        """Return the whole screen."""
        ...

    def begin(self, index: int, seed: int | None, *, join: bool) -> None:
        """Ask for an episode; with ``join`` take the one that the remote has begun, if it has."""
        ...

    def expect(self, index: int, seed: int) -> None:
        """Take the episode that was asked for already."""
        ...

    def act(self, events: Mapping[int, Sequence[Event]]) -> None:
        """Act on some environments that are ready."""
        ...

    def look(self, timeout_s: float) -> None:
        """Wait until something comes, for so long at most, and take it in."""
        ...

    def forget(self) -> None:
        """Know nothing of the episodes any more: each environment waits for its reset."""
        ...

    def close(self) -> None: ...
