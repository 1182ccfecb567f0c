"""What agents may press: what an environment's ``spaces`` name, and nothing else. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from pluriverse_protocol.env_spaces import Spaces
from pluriverse_protocol.events import Event, JoystickEvent, KeyEvent, ScreenEvent, SubmitEvent

_E = TypeVar("_E", bound=Event)


@dataclass(frozen=True, slots=True)
class Permitted:
    """The keysyms that agents may press (None: any), and whether they may use the pointer, and submit."""

    keys: frozenset[int] | None
    pointer: bool
    submit: bool = False

    def allows(self, event: ScreenEvent | SubmitEvent) -> bool:
        """Return whether an event may pass. Every release may: the key may have been pressed while it was permitted."""
        if isinstance(event, KeyEvent):
            return not event.down or self.keys is None or event.keysym in self.keys
        return self.submit if isinstance(event, SubmitEvent) else self.pointer


NOTHING = Permitted(frozenset(), pointer=False)
"""For those who only watch."""

_ANY_INPUT: Final = Permitted(None, pointer=True)


def permitted_by(spaces: Spaces | None, others: Collection[int]) -> Permitted | None:
    """Return what the spaces permit, and the keysyms ``others``; None, for everything, if the spaces name no input."""
    if spaces is None or (spaces.permitted is None and not spaces.submit):
        return None
    if spaces.permitted is None:
        return Permitted(None, pointer=True, submit=True)
    return Permitted(spaces.permitted.union(others), spaces.pointer, spaces.submit)


def pass_on(events: Sequence[_E], permitted: Permitted | None) -> list[_E]:
    """Return the events that may pass. Those of joysticks do: a program has as many as it is to have."""
    permitted = permitted or _ANY_INPUT
    return [event for event in events if isinstance(event, JoystickEvent) or permitted.allows(event)]
