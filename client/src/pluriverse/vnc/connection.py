"""The interface of a connection, common to both implementations, and its frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .input_state import InputEvent, InputState


class Frame(NamedTuple):
    """One whole frame, never torn.

    ``array`` is uint8 of shape (height, width, 3), RGB, or (height, width, 1) where grey was asked for; read-only, and
    it stays as it is for as long as it is kept. ``block`` are the pixels of ``VncOptions.block``, three bytes each, row
    by row; None without one. ``updates`` and ``pixels`` count what had come from the server by then. ``at`` is when the
    last byte of it had been decoded, in UNIX seconds.
    """

    array: NDArray[np.uint8]
    block: bytes | None
    updates: int
    pixels: int
    at: float


class VncConnection(Protocol):
    """One screen. Threads may share it, but ``close``, which is called once nobody else uses it.

    A fork's child can't use its parent's connections: there they are dead, and say so.
    """

    @property
    def width(self) -> int:
        """The screen's, in pixels; follows it when it changes."""
        ...

    @property
    def height(self) -> int: ...

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

    @property
    def held(self) -> InputState:
        """The keys and buttons that were left pressed."""
        ...

    def send_events(self, events: Sequence[InputEvent]) -> None:
        """Send keys and pointer, in pixels of the screen. Doesn't wait; on a dead connection they are lost."""
        ...

    def close(self) -> None:
        """Let go of all keys and buttons, and hang up. No thread and no socket remain. May be called repeatedly."""
        ...
