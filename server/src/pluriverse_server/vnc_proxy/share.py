"""How much one client may send: over its share it waits, and who goes on all the same is hung up on. Pure.

The VNC server is one thread: what one client asks of it, the others wait for.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

from pluriverse_protocol.rfb.errors import LimitExceeded
from pluriverse_protocol.rfb.numbers import ClientMessage


class PerSecond(enum.IntEnum):
    """How many messages of a kind a client may send in a second, and at once."""

    # An agent that turns all keys of a keyboard over in each of 60 frames sends 7,000.
    INPUT = 10_000
    # The VNC server sends no more updates than vnc.FRAME_RATE, each with a fence at most.
    CHANGES = 1_000
    # The whole picture, instead of what has changed.
    PICTURES = 60
    # Formats, encodings, sizes: sent when a client begins, or when its user chooses another quality.
    SETTINGS = 20


# A client over its share for this many seconds isn't playing; least of all one that only watches.
PATIENCE_S: Final = 10.0
WATCHERS_PATIENCE_S: Final = 3.0

# What of a second's share is there again when a client may go on, and above what it is no more over its share.
_GOES_ON_AT: Final = 0.25
_FORGIVEN_AT: Final = 0.5

_INPUT: Final = frozenset((ClientMessage.KEY_EVENT, ClientMessage.POINTER_EVENT))


class Share:
    """One client's; ``now`` is in seconds, and never goes back."""

    def __init__(self, now: float) -> None:
        self._levels = {kind: _Level(float(kind), float(kind), now) for kind in PerSecond}

    def take(self, message: bytes, now: float, patience_s: float) -> float:
        """Note a message, at least its head; return for how many seconds to take no more of the client."""
        kind = _kind(message)
        level = self._levels[kind]
        level.left = min(level.per_s, level.left + (now - level.at) * level.per_s) - 1
        level.at = now
        if level.left > _FORGIVEN_AT * level.per_s:
            level.over_since = None
        if level.left >= 0:
            return 0.0
        if level.over_since is None:
            level.over_since = now
        elif now - level.over_since > patience_s:
            raise LimitExceeded(f"more than {kind:d} {kind.name.lower()} a second for {patience_s:g} s")
        return _GOES_ON_AT - level.left / level.per_s


@dataclass(slots=True)
class _Level:
    per_s: float
    left: float
    at: float
    over_since: float | None = None


def _kind(message: bytes) -> PerSecond:
    if message[0] in _INPUT:
        return PerSecond.INPUT
    if message[0] == ClientMessage.FRAMEBUFFER_UPDATE_REQUEST:
        return PerSecond.CHANGES if message[1] else PerSecond.PICTURES
    return PerSecond.CHANGES if message[0] == ClientMessage.FENCE else PerSecond.SETTINGS
