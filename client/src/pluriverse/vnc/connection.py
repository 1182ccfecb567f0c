"""The interface of a connection, common to both implementations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from .frame import Frame
from .input_state import InputEvent


class VncConnection(Protocol):
    """One screen. Threads may share it, but ``close``, which is called once nobody else uses it.

    A fork's child can't use its parent's connections: there they are dead, and say so.
    """

    @property
    def width(self) -> int:
        """The screen's, in pixels; follows it when it changes."""
        ...

    @property
    def height(self) -> int:
        """The screen's, in pixels."""
        ...

    @property
    def error(self) -> Exception | None:
        """Why the connection is dead: an RfbProtocolError, a ConnectionError or a TimeoutError. None: it is alive."""
        ...

    @property
    def fresh(self) -> bool:
        """Whether ``frame`` would return a frame that it didn't before."""
        ...

    def frame(self) -> Frame | None:
        """The latest whole frame; None before the first. Doesn't wait. The same object until there is a newer one."""
        ...

    def send_events(self, events: Sequence[InputEvent]) -> None:
        """Send keys and pointer, in pixels of the screen. Doesn't wait; on a dead connection they are lost."""
        ...

    def close(self) -> None:
        """Let go of all keys and buttons, and hang up. No thread and no socket remain. May be called repeatedly."""
        ...
