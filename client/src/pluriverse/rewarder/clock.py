"""How far a remote's clock is from ours, out of the four timestamps of pings. Pure: times are passed in.

A ping leaves here at ``sent``, is received there at ``remote_received``, answered at ``remote_sent``, and the answer is
back here at ``received``. Neither way takes less than nothing, so the skew *here minus there* lies between
``sent - remote_received`` and ``received - remote_sent``: the shorter the round trip, the tighter the bounds.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final, NamedTuple

# A minute of a ping each second: long enough to catch a quiet moment of the network, short enough to forget old routes.
WINDOW: Final = 64

# Computers' crystals are off by some 20 ppm, and NTP slews by at most 500 ppm. A sample is trusted that much less with
# each second of its age, so a fresh sample with a slightly longer round trip takes over in time.
DRIFT: Final = 100e-6


class Skew(NamedTuple):
    """Bounds of the clocks' difference in seconds, here minus there: add it to a remote's time to have it in ours."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The best guess."""
        return (self.low + self.high) / 2

    def to_local(self, remote_time: float) -> tuple[float, float]:
        """The earliest and the latest that a remote's time can be on our clock, in UNIX seconds."""
        return remote_time + self.low, remote_time + self.high


@dataclass(frozen=True, slots=True)
class _Sample:
    at: float
    skew: Skew

    def bounds(self, now: float) -> Skew:
        drifted = DRIFT * max(0.0, now - self.at)
        return Skew(self.skew.low - drifted, self.skew.high + drifted)

    def width(self, now: float) -> float:
        """How far apart its bounds are."""
        bounds = self.bounds(now)
        return bounds.high - bounds.low


class ClockEstimator:
    """Bounds of one remote's skew. The ping with the least round trip wins, ageing by DRIFT."""

    def __init__(self) -> None:
        self._samples: deque[_Sample] = deque(maxlen=WINDOW)
        self._best: _Sample | None = None

    def add(self, sent: float, remote_received: float, remote_sent: float, received: float) -> None:
        """Take in one ping's four timestamps (UNIX seconds, the outer two ours); an impossible one is passed over."""
        skew = Skew(sent - remote_received, received - remote_sent)
        if skew.low > skew.high:
            return
        # A clock that was set makes older samples lies: only what agrees with the newest stays.
        agreeing = [sample for sample in self._samples if _overlap(sample.bounds(received), skew)]
        if len(agreeing) < len(self._samples):
            self._samples = deque(agreeing, maxlen=WINDOW)
        self._samples.append(_Sample(received, skew))
        # All bounds widen at the same rate, so that the tightest stays it until the next sample comes.
        self._best = min(self._samples, key=lambda sample: sample.width(received))

    def skew(self, now: float) -> Skew | None:
        """The tightest bounds at ``now`` (our UNIX seconds); None before the first ping."""
        return self._best.bounds(now) if self._best is not None else None


def _overlap(one: Skew, other: Skew) -> bool:
    return one.low <= other.high and other.low <= one.high
