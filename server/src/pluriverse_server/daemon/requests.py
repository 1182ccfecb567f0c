"""What connections ask of the remote that they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pluriverse_protocol.events import Event
from pluriverse_protocol.messages import Describe, Reset


class RequestError(Exception):
    """A request that can't be granted; the message goes to the agent as ``v0.reply.error``."""


class Requests(Protocol):
    """The remote, as its connections see it."""

    def description(self) -> tuple[Describe, int] | None:
        """What the environment is now, and its episode's id; None before the first one."""
        ...

    def reset(self, reset: Reset, leaving: int) -> int:
        """Begin an episode; returns its id.

        Raises:
            RequestError: there is no such environment.
        """
        ...

    async def act(self, events: Sequence[Event]) -> None:
        """Put keys, pointer and joystick in.

        Raises:
            RequestError: an event has nowhere to go.
        """
        ...

    def agent_left(self) -> None:
        """The agent is gone: let go of what it holds."""
        ...
