"""Samples, as a source was read, and readings, as they count. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from pluriverse_server.manifest.conditions import Value

# A part of the screen in X's format: uint8 of shape (height, width, 4); blue, green, red and an unused byte.
Pixels = NDArray[np.uint8]

# Enough for a score or a line of dialogue; texts go to agents up to a hundred times a second.
MAX_TEXT_CHARS: Final = 1000


@dataclass(frozen=True, slots=True)
class Sample:
    """One read of a source at UNIX time ``at``. ``value`` is None if there is nothing to read.

    ``events`` counts those since the previous sample, for sources that have any (lines of a log). ``behind``: there was
    more than could be read at once.
    """

    value: Value
    at: float
    confidence: float = 1.0
    events: int = 0
    lag_s: float = 0.0
    behind: bool = False


class ReadingState(StrEnum):
    OK = "ok"
    UNSETTLED = "unsettled"  # not yet the same often enough
    UNSURE = "unsure"  # read with too little confidence
    IMPLAUSIBLE = "implausible"  # out of range, too large a jump, or the wrong way
    LATE = "late"  # reading it took longer than its budget; the last reading stands
    NOTHING = "nothing"  # there was nothing to read


@dataclass(frozen=True, slots=True)
class Reading:
    """A source as it counts: the last accepted ``value``, since UNIX time ``at``; None before the first.

    ``sample`` is the last sample, and ``state`` how it was judged. ``events`` are those of this sample alone.
    """

    value: Value = None
    at: float = 0.0
    state: ReadingState = ReadingState.NOTHING
    sample: Sample | None = None
    events: int = 0

    def as_json(self) -> dict[str, Any]:
        sample = self.sample
        raw = sample.value if sample else None
        return {
            "value": self.value,
            "raw": None if isinstance(raw, float) and not math.isfinite(raw) else raw,
            "confidence": round(sample.confidence, 3) if sample else 0.0,
            "state": str(self.state),
            "events": self.events,
            "lag_ms": round(sample.lag_s * 1000, 3) if sample else 0.0,
        }


class ScreenReader(Protocol):
    """Reads the pixels of one region; stateless, except for ``change`` and Python's, which know what was before."""

    def read(self, pixels: Pixels) -> tuple[Value, float]:
        """Return the value of the source's region, and the confidence in it, 0 to 1."""
        ...


class SourceError(Exception):
    """A source can't be read; the message gives the reason and a remedy, and names the source if known."""


class SourceHangs(SourceError):
    """A source doesn't come back from a read, and its thread with it."""
