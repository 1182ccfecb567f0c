"""An agent's actions into events, checked before anything is sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pluriverse_protocol.events import (
    Event,
    JoystickEvent,
    KeyEvent,
    PointerEvent,
    RelativePointerEvent,
    SubmitEvent,
    checked,
    from_wire,
)
from pluriverse_protocol.limits import MAX_EVENTS_PER_ACTION

from pluriverse.errors import ActionError
from pluriverse.spaces import PEEK_REWARD
from pluriverse.vnc.keys import keysym


@dataclass(frozen=True, slots=True)
class Action:
    """One index's events, and whether it only peeks."""

    events: tuple[Event, ...] = ()
    peek: bool = False


def parse_actions(action_n: Any, n: int) -> list[Action]:
    if isinstance(action_n, str | bytes) or not isinstance(action_n, Iterable):
        raise ActionError(f"expected a list of {n} actions, got {action_n!r:.120}")
    actions = list(cast("Iterable[Any]", action_n))
    if len(actions) != n:
        raise ActionError(f"expected {n} actions, one for each remote, got {len(actions)}")
    return [parse_action(action, f"action {index}") for index, action in enumerate(actions)]


def parse_action(action: Any, name: str = "the action") -> Action:
    """One index's action; ``name`` is what errors call it."""
    if isinstance(action, str | bytes) or not isinstance(action, Iterable):
        raise ActionError(f"{name} is {action!r:.120}; expected a list of events")
    events: list[Event] = []
    peek = False
    for event in cast("Iterable[Any]", action):
        if event is PEEK_REWARD:
            peek = True
            continue
        try:
            events.append(_parse_event(event))
        except (ValueError, LookupError, TypeError) as error:
            raise ActionError(f"{name}: {event!r:.120} isn't an event: {error}") from None
    if len(events) > MAX_EVENTS_PER_ACTION:
        raise ActionError(f"{name} has {len(events)} events, over {MAX_EVENTS_PER_ACTION}")
    return Action(tuple(events), peek)


def _parse_event(event: Any) -> Event:
    """The event that an agent's object stands for, checked as the protocol checks it."""
    match event:
        case KeyEvent() | PointerEvent() | RelativePointerEvent() | JoystickEvent() | SubmitEvent():
            return checked(event)
        case ("KeyEvent", str() as name, down):
            return from_wire(["KeyEvent", keysym(name), _plain(down)])
        case [str() as name, *arguments]:
            return from_wire([name, *map(_plain, cast("Sequence[Any]", arguments))])
        case _:
            raise ValueError('expected ("KeyEvent", name or keysym, down) or ("PointerEvent", x, y, buttonmask)')


def _plain(value: Any) -> Any:
    """A number of NumPy's as Python's own."""
    return value.item() if hasattr(value, "item") else value
