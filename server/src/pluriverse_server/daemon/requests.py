"""The requests that connections pass on to their remote."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Protocol

from pluriverse_protocol.events import Event
from pluriverse_protocol.messages import Describe, Reset, TreeReply
from pluriverse_protocol.step_channel import View

from pluriverse_server.access.tokens import Token


class RequestError(Exception):
    """A request that can't be granted; the message goes to the agent as ``v0.reply.error``."""


class Requests(Protocol):
    @property
    def in_lockstep(self) -> bool: ...

    def why_not(self, who: Token) -> str | None:
        """Return why a client may not become the agent, or None."""
        ...

    def description(self) -> tuple[Describe, int] | None:
        """Return the environment's description and the episode's id; None before the first environment."""
        ...

    def reset(self, reset: Reset, leaving: int) -> int:
        """Leave the episode ``leaving`` and begin another, of the same environment by default; return its id."""
        ...

    async def act(self, events: Sequence[Event]) -> None: ...

    async def tree(self) -> TreeReply: ...

    def require_step_channel(self, slot: int, view: View | None) -> None:
        """Make sure that steps can be taken in a slot; 0: of the remote's own environment."""
        ...

    def open_step_channel(self, step_channel: socket.socket, slot: int, view: View | None) -> None:
        """Give a WebSocket, its handshake done, to the process that steps the slot; the caller then closes it here.

        ``view`` is what is wanted of its pictures.
        """
        ...

    def agent_left(self) -> None:
        """Release what the agent, which has gone, holds down."""
        ...

    def agent_ended(self) -> None:
        """Take no more steps of an agent that has lost its seat, and bring back what its input has changed."""
        ...
