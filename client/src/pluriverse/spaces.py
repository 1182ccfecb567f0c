"""What an observation and an action are, and their spaces. Pure.

An observation is ``{"vision": uint8 array (height, width, 3) RGB, "text": [str, …]}``, with ``"observation"`` beside it
where the environment sends structured ones, or None while the environment isn't there to be seen. An action is a
sequence of events: ``("KeyEvent", "ArrowUp", True)``, ``("PointerEvent", x, y, buttonmask)``, or
``pluriverse_protocol.events``.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pluriverse_protocol.events import Event, KeyEvent, PointerEvent

Observation = dict[str, Any] | None


class _PeekReward:
    """Within an action: look, without taking reward, done and texts. There is one, PEEK_REWARD."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "PEEK_REWARD"


PEEK_REWARD: Final = _PeekReward()

# Printable ASCII, the arrows, Return, space: what programs listen to. Random agents press these.
ORDINARY_KEYS: Final = (*range(0x21, 0x7F), 0x20, 0xFF0D, 0xFF51, 0xFF52, 0xFF53, 0xFF54)


@dataclass(frozen=True, slots=True)
class ObservationSpace:
    """Observations of a screen; its size is the remote's, and may change."""

    def contains(self, observation: object) -> bool:
        """Whether it is None, or has what an observation has."""
        return observation is None or (isinstance(observation, dict) and {"vision", "text"} <= observation.keys())


@dataclass(slots=True)
class EventSpace:
    """All sequences of key and pointer events on a screen of ``width`` by ``height`` pixels."""

    width: int = 1024
    height: int = 768
    keys: tuple[int, ...] = ORDINARY_KEYS
    random: random.Random = field(default_factory=random.Random)

    def seed(self, seed: int) -> None:
        """Make ``sample`` repeatable."""
        self.random.seed(seed)

    def sample(self) -> list[Event]:
        """A key that goes up or down, or the pointer somewhere with or without a button."""
        if self.random.random() < 0.5:
            return [KeyEvent(self.random.choice(self.keys), self.random.random() < 0.5)]
        place = self.random.randrange(self.width), self.random.randrange(self.height)
        return [PointerEvent(*place, self.random.randrange(2))]


@dataclass(slots=True)
class DiscreteSpace:
    """The integers 0 … n-1, each standing for a fixed action; ``actions[i]`` is what ``i`` sends."""

    actions: Sequence[Sequence[Event]]
    random: random.Random = field(default_factory=random.Random)

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.actions)

    def contains(self, action: object) -> bool:
        """Whether it is one of the integers."""
        return isinstance(action, int) and not isinstance(action, bool) and 0 <= action < self.n

    def seed(self, seed: int) -> None:
        """Make ``sample`` repeatable."""
        self.random.seed(seed)

    def sample(self) -> int:
        """One of them."""
        return self.random.randrange(self.n)


@dataclass(slots=True)
class ChoiceSpace:
    """Some actions out of all: each is a list of events, sent as it is."""

    actions: Sequence[Sequence[Event]]
    random: random.Random = field(default_factory=random.Random)

    def contains(self, action: object) -> bool:
        """Whether it is one of them."""
        return any(list(known) == action for known in self.actions)

    def seed(self, seed: int) -> None:
        """Make ``sample`` repeatable."""
        self.random.seed(seed)

    def sample(self) -> list[Event]:
        """One of them."""
        return list(self.random.choice(self.actions))
