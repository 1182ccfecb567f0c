"""Observations and actions of the core, and their spaces. Pure.

An action is a sequence of events: ``("KeyEvent", "ArrowUp", True)``, ``("PointerEvent", x, y, buttonmask)``, or the
classes of ``pluriverse_protocol.events``.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NotRequired, TypedDict

from pluriverse_protocol.events import Event, KeyEvent, PointerEvent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class ScreenObservation(TypedDict):
    """One look at an environment."""

    vision: NDArray[np.uint8] | None
    """The screen: shape (height, width, 3), RGB; None where the environment is played without one."""
    text: list[str]
    """The texts that came since the last look."""
    observation: NotRequired[Any]
    """The latest structured observation, where the environment sends them."""


Observation = ScreenObservation | None
"""None while the environment resets, or its remote is away."""


class _PeekReward:
    __slots__ = ()

    def __repr__(self) -> str:
        return "PEEK_REWARD"


PEEK_REWARD: Final = _PeekReward()
"""In an action: look, but leave rewards, dones and texts for a later step."""

# Printable ASCII, Return, the arrows: what programs listen to. Random agents press these.
ORDINARY_KEYS: Final = (*range(0x21, 0x7F), 0x20, 0xFF0D, 0xFF51, 0xFF52, 0xFF53, 0xFF54)


@dataclass(frozen=True, slots=True)
class ObservationSpace:
    """Observations of a screen; its size is the remote's, and may change."""

    def contains(self, observation: object) -> bool:
        """Return whether it is an observation, or None."""
        return observation is None or (isinstance(observation, dict) and {"vision", "text"} <= observation.keys())


@dataclass(slots=True)
class _Sampled:
    """Samples with random numbers of its own."""

    random: random.Random = field(default_factory=random.Random, kw_only=True)

    def seed(self, seed: int) -> None:
        """Make ``sample`` repeatable."""
        self.random.seed(seed)


@dataclass(slots=True)
class EventSpace(_Sampled):
    """All sequences of key and pointer events on a screen of ``width`` by ``height`` pixels."""

    width: int = 1024
    height: int = 768
    keys: tuple[int, ...] = ORDINARY_KEYS

    def sample(self) -> list[Event]:
        """Return a key that goes up or down, or the pointer somewhere with or without its left button."""
        if self.random.random() < 0.5:
            return [KeyEvent(self.random.choice(self.keys), self.random.random() < 0.5)]
        place = self.random.randrange(self.width), self.random.randrange(self.height)
        return [PointerEvent(*place, self.random.randrange(2))]


@dataclass(slots=True)
class DiscreteSpace(_Sampled):
    """The integers 0 … n-1, each standing for a fixed action; ``actions[i]`` is what ``i`` sends."""

    actions: Sequence[Sequence[Event]]

    @property
    def n(self) -> int:
        """How many actions there are."""
        return len(self.actions)

    def contains(self, action: object) -> bool:
        """Return whether it is one of the integers."""
        return isinstance(action, int) and not isinstance(action, bool) and 0 <= action < self.n

    def sample(self) -> int:
        """Return one of the integers."""
        return self.random.randrange(self.n)


@dataclass(slots=True)
class ChoiceSpace(_Sampled):
    """A choice of actions, each a list of events that is sent as it is."""

    actions: Sequence[Sequence[Event]]

    def contains(self, action: object) -> bool:
        """Return whether it is one of the actions."""
        return any(list(known) == action for known in self.actions)

    def sample(self) -> list[Event]:
        """Return one of the actions."""
        return list(self.random.choice(self.actions))
