"""How late an agent sees, acts and is rewarded, measured by the painted metadata block and the clocks' skew. Pure.

The block (``pluriverse_protocol.metadata``) has the remote's clock when a frame was drawn and when the last action
probe arrived; ``Skew`` converts both into our time. A block that was compressed with loss is read as well, as long as
its anchor is nearly right and its times are plausible.

The skew comes of the four timestamps of pings: one leaves here at ``sent``, is received there at ``remote_received``,
answered at ``remote_sent``, and the answer is back here at ``received``. Neither way takes less than nothing, so the
skew *here minus there* lies between ``sent - remote_received`` and ``received - remote_sent``: the shorter the round
trip, the tighter the bounds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol import metadata
from pluriverse_protocol.limits import SEAT_KEPT_S
from pluriverse_protocol.metadata import Metadata

# In the info of a reward: the remote's clock when the frame that earned it was on the screen.
FRAME_AT: Final = "rewarder.lag.observation.timestamp"

# How far each byte of the anchor may be off: JPEG at the quality that agents ask for stays below it, other pictures
# don't come near it in all twelve bytes.
TOLERANCE: Final = 24

# If a frame seems older or younger than this the block was misread: an error in a high byte is a minute or more.
PLAUSIBLE_S: Final = 10.0

# Searching a whole picture takes milliseconds, and a vector has many: where there is no block the first search comes
# again after so long, each later one after twice as long as the one before.
SEARCH_S: Final = 1.0
MAX_SEARCH_S: Final = 32.0

# Each probe is answered within a frame or two; one a second is enough, and disturbs no program.
PROBE_S: Final = 1.0

# A probe that isn't painted by then was lost, with a program that died or an episode that ended.
PROBE_LOST_S: Final = 10.0

# Painted times are cut to whole milliseconds: the true one is up to this much later.
CUT_S: Final = 0.001

_ANCHOR_BYTES: Final = b"".join(metadata.ANCHOR)
_ANCHOR_ROW_BYTES: Final = len(metadata.ANCHOR[0])
_ROW_BYTES: Final = metadata.WIDTH * 3
_ANCHOR: Final = np.frombuffer(_ANCHOR_BYTES, np.uint8).reshape(2, 2, 3)

# A minute of pings: long enough to catch a quiet moment of the network, short enough to forget old routes.
WINDOW: Final = 64

# Computers' crystals are off by some 20 ppm, and NTP slews by at most 500 ppm. A sample is trusted that much less with
# each second of its age, so a fresh sample with a slightly longer round trip takes over in time.
DRIFT: Final = 100e-6

# A message that is off by so much was held up by the network, or its sender's clock was set.
DOUBT_S: Final = 0.5

Frame = NDArray[np.uint8]
Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Place:
    """The position of the block, in pixels from the top left of the frame."""

    x: int
    y: int


def place_of(metadata_encoding: object) -> Place | None:
    """Return the position in a ``v0.env.describe``, or None."""
    if not isinstance(metadata_encoding, Mapping):
        return None
    encoding = cast("Mapping[str, Any]", metadata_encoding)
    match encoding.get("type"), encoding.get("x"), encoding.get("y"):
        case "pixels", int() as x, int() as y if x >= 0 and y >= 0:
            return Place(x, y)
        case _:
            return None


def find(frame: Frame) -> Place | None:
    """Return the position of the first exact anchor in a picture, or None."""
    height, width = frame.shape[:2]
    if frame.ndim != 3 or height < metadata.HEIGHT or width < metadata.WIDTH:
        return None
    inside = frame[: height - 1, : width - metadata.WIDTH + 1]
    ys, xs = np.nonzero(inside[..., 0] == _ANCHOR[0, 0, 0])
    for y, x in zip(ys.tolist(), xs.tolist(), strict=True):
        if np.array_equal(frame[y : y + 2, x : x + 2], _ANCHOR):
            return Place(x, y)
    return None


def read(frame: Frame, place: Place) -> Metadata | None:
    """Read the block at ``place``; None if its anchor isn't there, within ``TOLERANCE``."""
    block = frame[place.y : place.y + metadata.HEIGHT, place.x : place.x + metadata.WIDTH]
    if block.shape != (metadata.HEIGHT, metadata.WIDTH, 3):
        return None
    # Twelve bytes of each remote at each step: NumPy would take several times as long.
    return _parse(block[0].tobytes(), block[1].tobytes())


def _parse(upper: bytes, lower: bytes) -> Metadata | None:
    seen = upper[:_ANCHOR_ROW_BYTES] + lower[:_ANCHOR_ROW_BYTES]
    if seen != _ANCHOR_BYTES and not _is_nearly_the_anchor(seen):
        return None
    row = upper[_ANCHOR_ROW_BYTES:]
    return Metadata(clock=int.from_bytes(row[:6], "big"), probe=int.from_bytes(row[6:], "big"))


def _is_nearly_the_anchor(seen: bytes) -> bool:
    return all(abs(byte - expected) <= TOLERANCE for byte, expected in zip(seen, _ANCHOR_BYTES, strict=True))


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


class _Sample(NamedTuple):
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
        if self._best is None:
            return None
        at, (low, high) = self._best
        drifted = DRIFT * max(0.0, now - at)
        return Skew(low - drifted, high + drifted)


def _overlap(one: Skew, other: Skew) -> bool:
    return one.low <= other.high and other.low <= one.high


class Diagnostics:
    """The measurements of one remote. ``now`` is our time, in UNIX seconds."""

    def __init__(self, *, probes: bool = True) -> None:
        """``probes``: whether action probes are sent."""
        self._probes = probes
        self._place: Place | None = None
        self._search_at = 0.0
        self._search_again_s = SEARCH_S
        self._last_clock: int | None = None
        self._probe_sent_at: float | None = None
        self._next_probe_at = 0.0
        self._last_probe: int | None = None

    def described(self, metadata_encoding: object) -> None:
        """Take the block's position from a ``v0.env.describe``, if it has one."""
        place = place_of(metadata_encoding)
        if place is not None:
            self._place = place

    def probe_due(self, now: float) -> bool:
        """Return whether to send a probe now; if so it counts as sent."""
        if not self._probes or now < self._next_probe_at:
            return False
        if self._probe_sent_at is not None and now - self._probe_sent_at < PROBE_LOST_S:
            return False
        self._probe_sent_at = now
        self._next_probe_at = now + PROBE_S
        return True

    def forget_probe(self) -> None:
        """Don't wait for the probe under way: its episode has ended."""
        self._probe_sent_at = None

    def read(self, frame: Frame, skew: Skew | None, now: float, pixels: bytes | None = None) -> Metadata | None:
        """Read a frame's block; None if it isn't readable or its clock is implausible.

        ``pixels``: the block's own, where the frame isn't the screen as it is.
        """
        if pixels is not None:
            block = _parse(pixels[:_ROW_BYTES], pixels[_ROW_BYTES:])
        else:
            block = read(frame, self._place) if self._place is not None else None
        if block is None and pixels is None and now >= self._search_at:
            self._search_at = now + self._search_again_s
            self._search_again_s = min(2 * self._search_again_s, MAX_SEARCH_S)
            found = find(frame)
            if found is not None:
                self._place = found
                self._search_again_s = SEARCH_S
                block = read(frame, found)
        if block is None or skew is None:
            return None
        age = now - block.clock / 1000 - (skew.low + skew.high) / 2
        return block if abs(age) <= PLAUSIBLE_S else None

    def lags(self, block: Metadata, skew: Skew, now: float) -> tuple[Bounds | None, Bounds | None]:
        """Return the lags of observation and action that a frame's block shows; None where it shows nothing new."""
        observation = action = None
        if block.clock != self._last_clock:
            self._last_clock = block.clock
            ago = now - block.clock / 1000
            observation = ago - skew.high - CUT_S, ago - skew.low
        if block.probe != self._last_probe:
            self._last_probe = block.probe
            action = self._action_lag(block.probe, skew)
        return observation, action

    def _action_lag(self, probe: int, skew: Skew) -> Bounds | None:
        if probe == 0 or self._probe_sent_at is None:
            return None
        earliest, latest = skew.to_local(probe / 1000)
        latest += CUT_S
        # What arrived before ours was sent is another agent's probe.
        if not 0 <= latest - self._probe_sent_at <= PROBE_LOST_S:
            return None
        sent_at, self._probe_sent_at = self._probe_sent_at, None
        return earliest - sent_at, latest - sent_at


def reward_lags(
    info: Mapping[str, Any],
    sent_at: float | None,
    skew: Skew,
    now: float,
    *,
    earned: bool,
    received_at: float | None = None,
) -> tuple[Bounds | None, Bounds | None]:
    """Return the lag of a reward since its frame was on the screen, and of the rewarder's last message.

    ``info`` is what the rewards carried, ``sent_at`` the remote's time of its last message, which was ``received_at``
    ours. A message that nothing was ``earned`` with has no lag of a frame: it is sent at any time. What would have been
    on its way for an impossible time was dated by a clock that was set since, and has no lag either.
    """

    def plausible(remote_time: float) -> bool:
        on_its_way = (received_at if received_at is not None else now) - (remote_time + skew.middle)
        return -PLAUSIBLE_S <= on_its_way <= SEAT_KEPT_S + PLAUSIBLE_S

    frame_at = info.get(FRAME_AT)
    of_reward = None
    if earned and isinstance(frame_at, int | float) and plausible(frame_at):
        of_reward = lag(frame_at, skew, now)
    of_message = lag(sent_at, skew, now) if sent_at is not None and plausible(sent_at) else None
    return of_reward, of_message


def lag(remote_time: float, skew: Skew, now: float) -> Bounds:
    """Return how many seconds ago ``remote_time`` was, at least and at most."""
    earliest, latest = skew.to_local(remote_time)
    return now - latest, now - earliest
