"""What sources give: samples as they were read, readings as they count. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from pluriverse_server.manifest.conditions import Value

# A part of the screen as X has it: uint8 of shape (height, width, 4), blue, green, red and a byte that means nothing.
Pixels = NDArray[np.uint8]

# A score, a line of a dialogue; more is a page, and goes to agents a hundred times a second.
MAX_TEXT_CHARS: Final = 1000


@dataclass(frozen=True, slots=True)
class Sample:
    """One source as it was read. ``at`` is UNIX seconds: when what was read was so. ``value`` None: nothing is there.

    ``events`` is how many have come since the sample before, where a source counts any (lines of a log). ``behind``:
    there was more than could be read at once.
    """

    value: Value
    at: float
    confidence: float = 1.0
    events: int = 0
    lag_s: float = 0.0
    behind: bool = False


class State(StrEnum):
    """What has become of a sample."""

    OK = "ok"
    UNSETTLED = "unsettled"  # not yet read the same often enough
    UNSURE = "unsure"  # read with too little confidence
    IMPLAUSIBLE = "implausible"  # out of range, too large a jump, or the wrong way
    LATE = "late"  # reading it took longer than its budget; the last reading stands
    NOTHING = "nothing"  # there is nothing to read


@dataclass(frozen=True, slots=True)
class Reading:
    """A source as it counts: the last plausible ``value``, since ``at`` (UNIX seconds); None before there is any.

    ``sample`` is the last sample, and ``state`` what has become of it. ``events`` are those of this sample alone.
    """

    value: Value = None
    at: float = 0.0
    state: State = State.NOTHING
    sample: Sample | None = None
    events: int = 0

    def as_json(self) -> dict[str, Any]:
        """For ``reports.Readings``; what JSON can't carry, NaN and infinity, is as good as nothing."""
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
    """Reads one region's pixels; a pure function but for ``change``, which remembers the frame before."""

    def read(self, pixels: Pixels) -> tuple[Value, float]:
        """The value, and the confidence in it, 0 to 1. ``pixels`` are those of the source's region."""
        ...


class Probe(Protocol):
    """Reads a source that is not on the screen. May block; it has a thread of its own."""

    def read(self) -> Sample:
        """What is there now.

        Raises:
            SourceError: it can't be read, and won't be: the message says why and what mends it.
        """
        ...

    def close(self) -> None:
        """Let go of what it holds."""
        ...


class SourceError(Exception):
    """A source that can't be read; the message names it, says why, and what mends it."""
