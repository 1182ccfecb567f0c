"""When a step of a Sync environment, which waits for its agent, is answered. Pure: times are passed in."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from pluriverse_protocol import metadata

from .outcome import Outcome

# A step of a game takes milliseconds, an episode's beginning a second at most. What doesn't come by now was lost, or
# the environment isn't one of the Sync variants.
LOST_S: Final = 10.0

# A server that scrapes the screen notes what was painted, and reads the pixels when it sends: the block that it noted
# for an earlier clock can show a later one, without the game's picture that was painted in between. That is then in the
# next update, this much later at most. A game that stands still costs this wait, too.
SETTLE_S: Final = 0.015
BLOCK_PIXELS: Final = metadata.WIDTH * metadata.HEIGHT


class Missing(Enum):
    """The answer that a step still waits for."""

    REWARD = auto()
    PICTURE = auto()
    """One painted after the reward was sent."""
    REST_OF_PICTURE = auto()
    """Only the painted clock has changed so far; the rest comes soon, or the game drew nothing."""
    NOTHING = auto()


class SyncStep:
    """One step: answered by a reward, and by a picture painted later. A remote that is away isn't waited for."""

    def __init__(self, now: float, *, rewarded: bool = False) -> None:
        """``rewarded``: no reward is due, as after a reset. ``now`` is in seconds of any clock."""
        self.missing: Missing = Missing.PICTURE if rewarded else Missing.REWARD
        self.due_at: float = now + LOST_S
        """When to stop waiting for what is missing now."""
        self._rewarded = rewarded
        self._painted_at = self._sent_at = 0.0
        self._updates = self._pixels = 0
        self._lost = False

    def is_over(self, now: float) -> bool:
        """Return whether nothing is missing, or it is too late for it."""
        return self.missing is Missing.NOTHING or now >= self.due_at

    def take(self, outcome: Outcome, now: float) -> None:
        """Take in the next outcome of the remote."""
        self._rewarded = self._rewarded or outcome.reward_count > 0
        self._lost = self._lost or outcome.error is not None
        self._painted_at = outcome.painted_at or self._painted_at
        self._sent_at = outcome.message_sent_at or self._sent_at
        self._updates += outcome.updates
        self._pixels += outcome.pixels
        missing = self._find_missing(outcome)
        if missing is not self.missing:
            self.missing = missing
            self.due_at = now + (SETTLE_S if missing is Missing.REST_OF_PICTURE else LOST_S)

    def _find_missing(self, outcome: Outcome) -> Missing:
        if self._lost or outcome.disconnected:
            return Missing.NOTHING
        if not self._rewarded:
            return Missing.REWARD
        if outcome.observation is None or self._painted_at < self._sent_at:
            return Missing.PICTURE
        return Missing.REST_OF_PICTURE if self._pixels <= BLOCK_PIXELS * self._updates else Missing.NOTHING
