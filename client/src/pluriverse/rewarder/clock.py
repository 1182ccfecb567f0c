"""The difference between a remote's clock and ours, from the four timestamps of pings. Pure: times are passed in.

A ping leaves here at ``sent``, is received there at ``remote_received``, answered at ``remote_sent``, and the answer is
back here at ``received``. Neither way takes less than nothing, so the skew *here minus there* lies between
``sent - remote_received`` and ``received - remote_sent``: the shorter the round trip, the tighter the bounds.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final, NamedTuple

# A minute of pings: long enough to catch a quiet moment of the network, short enough to forget old routes.
WINDOW: Final = 64

# Computers' crystals are off by some 20 ppm, and NTP slews by at most 500 ppm. A sample is trusted that much less with
# each second of its age, so a fresh sample with a slightly longer round trip takes over in time.
DRIFT: Final = 100e-6

# A message that is off by so much was held up by the network, or its sender's clock was set.
DOUBT_S: Final = 0.5


class Skew(NamedTuple):
    """Bounds of the clocks' difference in seconds, here minus there: add it to a remote's time to get ours."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2

    def to_local(self, remote_time: float) -> tuple[float, float]:
        """Return the earliest and the latest that a remote's time can be on our clock, in UNIX seconds."""
        return remote_time + self.low, remote_time + self.high


@dataclass(frozen=True, slots=True)
class _Sample:
    at: float
    skew: Skew

    def bounds(self, now: float) -> Skew:
        drifted = DRIFT * max(0.0, now - self.at)
        return Skew(self.skew.low - drifted, self.skew.high + drifted)

    def width(self, now: float) -> float:
        bounds = self.bounds(now)
        return bounds.high - bounds.low


class ClockEstimator:
    """Bounds of one remote's skew: those of the ping with the shortest round trip, widened by DRIFT with its age."""

    def __init__(self) -> None:
        self._samples: deque[_Sample] = deque(maxlen=WINDOW)
        self._best: _Sample | None = None
        self._doubted = False

    def add(self, sent: float, remote_received: float, remote_sent: float, received: float) -> None:
        """Add one ping's four timestamps (UNIX seconds, the outer two ours); impossible ones are ignored."""
        skew = Skew(sent - remote_received, received - remote_sent)
        if skew.low > skew.high:
            return
        self._doubted = False
        # A clock that was set makes older samples wrong: only those that agree with the newest are kept.
        agreeing = [sample for sample in self._samples if _overlap(sample.bounds(received), skew)]
        if len(agreeing) < len(self._samples):
            self._samples = deque(agreeing, maxlen=WINDOW)
        self._samples.append(_Sample(received, skew))
        # All bounds widen at the same rate, so the tightest remains so until the next sample.
        self._best = min(self._samples, key=lambda sample: sample.width(received))

    def doubts(self, remote_sent: float, received: float) -> bool:
        """Return whether a message casts doubt on the skew for the first time since the last ping: ask again at once.

        One that seems to come from the future was sent by a clock that was set, and all samples are forgotten. One that
        seems to be late may have been held up.
        """
        skew = self.skew(received)
        if skew is None or self._doubted:
            return False
        earliest, latest = skew.to_local(remote_sent)
        if earliest - received > DOUBT_S:
            self._samples.clear()
            self._best = None
        self._doubted = earliest - received > DOUBT_S or received - latest > DOUBT_S
        return self._doubted

    def skew(self, now: float) -> Skew | None:
        """Return the tightest bounds at ``now`` (our UNIX seconds); None before the first ping."""
        return self._best.bounds(now) if self._best is not None else None


def _overlap(one: Skew, other: Skew) -> bool:
    return one.low <= other.high and other.low <= one.high
