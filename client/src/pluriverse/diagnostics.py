"""How late an agent sees, acts and is rewarded, out of the metadata block on the screen and the clocks' skew. Pure.

The block (``pluriverse_protocol.metadata``) tells on the remote's clock when a frame was drawn and when the last action
probe came in; ``Skew`` brings both into ours. Where the picture was compressed with loss the block is read all the
same, as long as its anchor is nearly right and what it says can be true.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol import metadata
from pluriverse_protocol.metadata import Metadata

from .rewarder.clock import Skew

PREFIX: Final = "stats.gauges.diagnostics."

# How far each byte of the anchor may be off: JPEG at the quality that agents ask for stays below it, other pictures
# don't come near it in all twelve bytes.
TOLERANCE: Final = 24

# A frame older or younger than this isn't one: the block was misread. High bytes that are wrong are off by a minute.
PLAUSIBLE_S: Final = 10.0

# Searching a whole picture takes some milliseconds; where there is no block, it is looked for no more often.
SEARCH_S: Final = 1.0

# Each probe is answered within a frame or two; one a second says enough, and disturbs no program.
PROBE_S: Final = 1.0

# A probe that isn't painted by now was lost, with a program that died or an episode that ended.
PROBE_LOST_S: Final = 10.0

# Painted times are cut to whole milliseconds: the true one is up to this much later.
CUT_S: Final = 0.001

_ANCHOR_BYTES: Final = b"".join(metadata.ANCHOR)
_ANCHOR_ROW_BYTES: Final = len(metadata.ANCHOR[0])
_ANCHOR: Final = np.frombuffer(_ANCHOR_BYTES, np.uint8).reshape(2, 2, 3)

Frame = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the block's first pixel is, in pixels from the top left of the frame."""

    x: int
    y: int


def place_of(metadata_encoding: object) -> Place | None:
    """The place that ``v0.env.describe`` tells; None if it tells none."""
    if not isinstance(metadata_encoding, Mapping):
        return None
    encoding = cast("Mapping[str, Any]", metadata_encoding)
    match encoding.get("type"), encoding.get("x"), encoding.get("y"):
        case "pixels", int() as x, int() as y if x >= 0 and y >= 0:
            return Place(x, y)
        case _:
            return None


def find(frame: Frame) -> Place | None:
    """The place of the block in a picture, looked for by its exact anchor."""
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
    """What the block at ``place`` says; None if there is none, not even nearly."""
    block = frame[place.y : place.y + metadata.HEIGHT, place.x : place.x + metadata.WIDTH]
    if block.shape != (metadata.HEIGHT, metadata.WIDTH, 3):
        return None
    # Twelve bytes of each remote at each step: NumPy would take several times as long.
    upper, lower = block[0].tobytes(), block[1].tobytes()
    seen = upper[:_ANCHOR_ROW_BYTES] + lower[:_ANCHOR_ROW_BYTES]
    if seen != _ANCHOR_BYTES and not _is_nearly_the_anchor(seen):
        return None
    row = upper[_ANCHOR_ROW_BYTES:]
    return Metadata(clock=int.from_bytes(row[:6], "big"), probe=int.from_bytes(row[6:], "big"))


def _is_nearly_the_anchor(seen: bytes) -> bool:
    return all(abs(byte - expected) <= TOLERANCE for byte, expected in zip(seen, _ANCHOR_BYTES, strict=True))


class Diagnostics:
    """One remote's. Times are passed in: ``now`` is ours, in UNIX seconds."""

    def __init__(self, *, probes: bool = True) -> None:
        """``probes``: whether action probes are sent."""
        self._probes = probes
        self._place: Place | None = None
        self._searched_at: float | None = None
        self._last_clock: int | None = None
        self._probe_sent_at: float | None = None
        self._next_probe_at = 0.0
        self._last_probe: int | None = None

    def described(self, metadata_encoding: object) -> None:
        """The remote has said where the block is."""
        place = place_of(metadata_encoding)
        if place is not None:
            self._place = place

    def probe_due(self, now: float) -> bool:
        """Whether a probe is to be sent now; if so it counts as sent."""
        if not self._probes or now < self._next_probe_at:
            return False
        if self._probe_sent_at is not None and now - self._probe_sent_at < PROBE_LOST_S:
            return False
        self._probe_sent_at = now
        self._next_probe_at = now + PROBE_S
        return True

    def forget_probe(self) -> None:
        """An episode has ended: what was under way isn't waited for."""
        self._probe_sent_at = None

    def read(self, frame: Frame, skew: Skew | None, now: float) -> Metadata | None:
        """What the frame's block says; None if it can't be read or can't be true."""
        block = read(frame, self._place) if self._place is not None else None
        if block is None and (self._searched_at is None or now - self._searched_at >= SEARCH_S):
            self._searched_at = now
            found = find(frame)
            if found is not None:
                self._place = found
                block = read(frame, found)
        if block is None or skew is None:
            return None
        age = now - (block.clock / 1000 + skew.middle)
        return block if abs(age) <= PLAUSIBLE_S else None

    def picture(self, block: Metadata, skew: Skew, now: float) -> dict[str, Any]:
        """What a frame's block tells, as keys of info; lags only of what is new since the frame before."""
        info: dict[str, Any] = {
            "diagnostics.image_remote_time": block.clock / 1000,
            f"{PREFIX}clock_skew": tuple(skew),
        }
        if block.clock != self._last_clock:
            self._last_clock = block.clock
            low, high = lag(block.clock / 1000, skew, now)
            info[f"{PREFIX}lag.observation"] = low - CUT_S, high
        way = self._action_lag(block, skew)
        if way is not None:
            info[f"{PREFIX}lag.action"] = way
        return info

    def _action_lag(self, block: Metadata, skew: Skew) -> tuple[float, float] | None:
        new = block.probe != self._last_probe
        self._last_probe = block.probe
        if not new or block.probe == 0 or self._probe_sent_at is None:
            return None
        earliest, latest = skew.to_local(block.probe / 1000)
        latest += CUT_S
        # What came in before it was sent answers another agent's probe.
        if not 0 <= latest - self._probe_sent_at <= PROBE_LOST_S:
            return None
        sent_at, self._probe_sent_at = self._probe_sent_at, None
        return earliest - sent_at, latest - sent_at


def rewards(
    info: Mapping[str, Any], remote_time: float | None, skew: Skew, now: float, *, earned: bool
) -> dict[str, Any]:
    """The lags of what the rewarder said since the last step, as keys of info.

    ``info`` is what its rewards carried, ``remote_time`` when its last message was sent, on the remote's clock. Of
    rewards that nothing was ``earned`` with there is no lag: they come when it suits the remote, not a frame.
    """
    lags: dict[str, Any] = {}
    frame_at = info.get("rewarder.lag.observation.timestamp")
    if earned and isinstance(frame_at, int | float):
        lags[f"{PREFIX}lag.reward"] = lag(frame_at, skew, now)
    if remote_time is not None:
        lags[f"{PREFIX}lag.rewarder_message"] = lag(remote_time, skew, now)
    return lags


def lag(remote_time: float, skew: Skew, now: float) -> tuple[float, float]:
    """How long ago the remote's time was, at least and at most, in seconds."""
    earliest, latest = skew.to_local(remote_time)
    return now - latest, now - earliest
