"""How many pings and pongs of a WebSocket are taken of a peer: a burst, and then so many a second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .limits import MAX_CONTROL_FRAMES_AT_ONCE, MAX_CONTROL_FRAMES_PER_S

# RFC 6455, section 7.4.1: how a peer that sends more is hung up on.
POLICY_VIOLATION: Final = 1008

TOO_MANY: Final = f"more than {MAX_CONTROL_FRAMES_AT_ONCE} pings and pongs, and {MAX_CONTROL_FRAMES_PER_S:g} a second"


class ControlFrames:
    def __init__(self, clock: Callable[[], float]) -> None:
        """``clock`` returns seconds, which never go back."""
        self._clock = clock
        self._left = float(MAX_CONTROL_FRAMES_AT_ONCE)
        self._at = clock()

    def take(self) -> bool:
        """Note that one has come; return whether it is still within the limit."""
        now = self._clock()
        self._left = min(MAX_CONTROL_FRAMES_AT_ONCE, self._left + (now - self._at) * MAX_CONTROL_FRAMES_PER_S) - 1
        self._at = now
        return self._left >= 0
