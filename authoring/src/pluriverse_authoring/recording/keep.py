"""Reduces a picture's updates to what a recording needs: exact regions of sources, the rest now and then."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.recording_file import MAX_WINDOW_LOG, RecordingFile, open_recording
from pluriverse_protocol.recordings import Record, Said, TruncatedRecording, Update
from pluriverse_protocol.rfb.geometry import Box
from pluriverse_protocol.rfb.raw_updates import raw_update, rectangles

# The fourth byte of a pixel is undefined.
COLOUR: Final = 0x00FFFFFF

# 16 shades of each colour are enough for people; a photograph takes a third of the space.
COARSE: Final = 0x00F0F0F0


@dataclass(frozen=True, slots=True)
class Rest:
    """How what is in no region is kept: brought up to date every ``every_s`` seconds, in these bits of its colours.

    While the file is longer than by ``bytes_per_s``, it is kept by ``SELDOM``.
    """

    every_s: float
    colours: int
    bytes_per_s: float = math.inf


# A user waits for a file that is kept: level 19 would make it a sixth smaller and take twenty times as long.
KEPT_LEVEL: Final = 9

# Often enough for people to follow, and rare enough to be shipped.
SELDOM: Final = Rest(5.0, COARSE)

# Often enough to cut out pictures, and to see what went wrong; with the first pictures, 10 MB in four minutes.
OFTEN: Final = Rest(0.2, COLOUR, 9e6 / 240)
HEAD_START_BYTES: Final = 1_000_000


def blit(frame: NDArray[np.uint8], message: bytes) -> list[Box]:
    """Apply an update to ``frame``, uint8 of shape (height, width, 4); return the boxes that it covers."""
    boxes: list[Box] = []
    for part in rectangles(message, frame.shape[1], frame.shape[0]):
        count = part.width * part.height * 4
        pixels = np.frombuffer(message, np.uint8, count, part.offset).reshape(part.height, part.width, 4)
        frame[part.y : part.y + part.height, part.x : part.x + part.width] = pixels
        boxes.append((part.x, part.y, part.width, part.height))
    return boxes


class RegionKeeper:
    """Follows a picture, and selects what to write of it."""

    def __init__(
        self,
        width: int,
        height: int,
        regions: Sequence[Box],
        rest: Rest = SELDOM,
        file_bytes: Callable[[], int] = lambda: 0,
    ) -> None:
        self._regions = regions
        self._rest = rest
        self._file_bytes = file_bytes
        self._now = np.zeros((height, width, 4), np.uint8)
        self._written = np.zeros((height, width), np.uint32)
        self._colours = np.empty((height, width), np.uint32)
        self._see(rest)
        self._whole_at: float | None = None

    def keep(self, record: Record) -> Iterator[Record]:
        """Yield what to write of a record: an update's part of the regions; now and then the whole picture."""
        message: bytes | None = None
        match record:
            case Update():
                message = self._take(record.at, record.message)
            case Said() if _begins_or_ends(record.said):
                message = self._whole(record.at)
            case _:
                yield from self.catch_up(record.at)
        if message is not None:
            yield Update(record.at, message)
        if not isinstance(record, Update):
            yield record

    def catch_up(self, at: float) -> Iterator[Record]:
        """Yield what completes the whole picture if that is due, where nothing has changed since."""
        if self._whole_at is not None and self._due(at - self._whole_at, at) and (message := self._whole(at)):
            yield Update(at, message)

    def _see(self, rest: Rest) -> None:
        """Look at these bits of the colours of what is in no region."""
        self._colours[:] = rest.colours
        for x, y, width, height in self._regions:
            self._colours[y : y + height, x : x + width] = COLOUR

    def _due(self, age_s: float, at: float) -> bool:
        if age_s < self._rest.every_s:
            return False
        rest = self._rest if self._file_bytes() <= HEAD_START_BYTES + self._rest.bytes_per_s * at else SELDOM
        self._see(rest)
        return age_s >= rest.every_s

    def _take(self, at: float, message: bytes) -> bytes | None:
        boxes = blit(self._now, message)
        if self._whole_at is None or self._due(at - self._whole_at, at):
            return self._whole(at)
        crossed = (_intersection(box, region) for box in boxes for region in self._regions)
        return self._write([changed for box in crossed if box and (changed := self._changed(box))])

    def _whole(self, at: float) -> bytes | None:
        """Return what completes the whole picture; None if nothing is missing."""
        self._whole_at = at
        height, width = self._written.shape
        changed = self._changed((0, 0, width, height))
        return self._write([changed] if changed else [])

    def _changed(self, box: Box) -> Box | None:
        """Return the part of ``box`` that differs from what was written."""
        x, y, width, height = box
        place = np.s_[y : y + height, x : x + width]
        differs = self._pixels(place) != self._written[place] & self._colours[place]
        rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
        if not rows.size:
            return None
        top, left = int(rows[0]), int(columns[0])
        return x + left, y + top, int(columns[-1]) - left + 1, int(rows[-1]) - top + 1

    def _write(self, boxes: Sequence[Box]) -> bytes | None:
        if not boxes:
            return None
        parts: list[tuple[Box, bytes]] = []
        for x, y, width, height in boxes:
            place = np.s_[y : y + height, x : x + width]
            pixels = self._written[place] = self._pixels(place)
            parts.append(((x, y, width, height), pixels.tobytes()))
        return raw_update(parts)

    def _pixels(self, place: tuple[slice, slice]) -> NDArray[np.uint32]:
        return self._now.view("<u4")[..., 0][place] & self._colours[place]


def compact(path: Path) -> None:
    """Rewrite a recording with stronger compression; one whose end is missing is complete afterwards."""
    header, records = open_recording(path)
    compacted = RecordingFile(path, header, level=KEPT_LEVEL, window_log=MAX_WINDOW_LOG)
    try:
        with contextlib.suppress(TruncatedRecording):
            for record in records:
                compacted.write(record)
        compacted.close()
    except BaseException:
        compacted.abandon()
        compacted.partial.unlink(missing_ok=True)
        raise


def _begins_or_ends(said: Mapping[str, Any]) -> bool:
    return said.get("report") in ("ready", "done") or said.get("event") == "end"


def _intersection(one: Box, other: Box) -> Box | None:
    x, y = max(one[0], other[0]), max(one[1], other[1])
    width, height = min(one[0] + one[2], other[0] + other[2]) - x, min(one[1] + one[3], other[1] + other[3]) - y
    return (x, y, width, height) if width > 0 and height > 0 else None
