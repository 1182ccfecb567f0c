"""What agents may press: what an environment's ``spaces`` name, and nothing else. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pluriverse_protocol.env_spaces import Spaces
from pluriverse_protocol.events import Event, JoystickEvent, KeyEvent, ScreenEvent

_E = TypeVar("_E", bound=Event)


@dataclass(frozen=True, slots=True)
class Permitted:
    """The keysyms that agents may press, and whether they may use the pointer."""

    keys: frozenset[int]
    pointer: bool

    def allows(self, event: ScreenEvent) -> bool:
        """Return whether an event may pass. Every release may: the key may have been pressed while it was permitted."""
        if isinstance(event, KeyEvent):
            return not event.down or event.keysym in self.keys
        return self.pointer


NOTHING = Permitted(frozenset(), pointer=False)
"""For those who only watch."""


def permitted_by(spaces: Spaces | None, others: Collection[int]) -> Permitted | None:
    """Return what the spaces permit, and the keysyms ``others``; None, for everything, if the spaces name no input."""
    if spaces is None or spaces.permitted is None:
        return None
    return Permitted(spaces.permitted.union(others), spaces.pointer)


def pass_on(events: Sequence[_E], permitted: Permitted | None) -> list[_E]:
    """Return the events that may pass. Those of joysticks do: a program has as many as it is to have."""
    return [
        event for event in events if permitted is None or isinstance(event, JoystickEvent) or permitted.allows(event)
    ]
