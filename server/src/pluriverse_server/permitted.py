"""What agents may press: what an environment's ``spaces`` name, and nothing else. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pluriverse_protocol.env_spaces import Spaces
from pluriverse_protocol.events import Event, JoystickEvent, KeyEvent, PointerEvent


@dataclass(frozen=True, slots=True)
class Permitted:
    """The keysyms that agents may press, and whether they may use the pointer."""

    keys: frozenset[int]
    pointer: bool

    def allows(self, event: KeyEvent | PointerEvent) -> bool:
        """Return whether an event may pass. Every release may: the key may have been pressed while it was permitted."""
        if isinstance(event, PointerEvent):
            return self.pointer
        return not event.down or event.keysym in self.keys


NOTHING = Permitted(frozenset(), pointer=False)
"""For those who only watch."""


def permitted_by(spaces: Spaces | None, others: Collection[int]) -> Permitted | None:
    """Return what the spaces permit, and the keysyms ``others``; None, for everything, if the spaces name no input."""
    if spaces is None or not (spaces.keyboard or spaces.pointer or spaces.step):
        return None
    step = () if spaces.step is None else (spaces.step,)
    return Permitted(frozenset((*spaces.keyboard, *step, *others)), spaces.pointer)


def pass_on(events: Sequence[Event], permitted: Permitted | None) -> list[KeyEvent | PointerEvent]:
    """Return the events of keys and the pointer that may pass. Those of joysticks go other ways."""
    return [
        event
        for event in events
        if not isinstance(event, JoystickEvent) and (permitted is None or permitted.allows(event))
    ]
