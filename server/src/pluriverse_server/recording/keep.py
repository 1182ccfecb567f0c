"""Keeps of a picture's updates what a recording needs: the sources' regions as they are, the rest seldom and coarse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.recordings import Record, Said, Update
from pluriverse_protocol.rfb.geometry import Box
from pluriverse_protocol.rfb.raw_updates import raw_update, rectangles

# Often enough for people to see what went on, and rare enough for the file to stay small.
WHOLE_PICTURE_S: Final = 5.0

# Of the whole picture just the tiles that have changed are written. Sides in pixels.
TILE: Final = 32

# The fourth byte of a pixel means nothing; whoever draws may leave anything there.
COLOUR: Final = 0x00FFFFFF

# What is only looked at by people has 16 shades of each colour: a photograph takes a third of the room so.
COARSE: Final = 0x00F0F0F0


def blit(frame: NDArray[np.uint8], message: bytes) -> list[Box]:
    """Put an update's pixels into ``frame``, uint8 of shape (height, width, 4); returns where.

    Raises:
        ValueError: it is no update of such a frame.
    """
    boxes: list[Box] = []
    for part in rectangles(message, frame.shape[1], frame.shape[0]):
        count = part.width * part.height * 4
        pixels = np.frombuffer(message, np.uint8, count, part.offset).reshape(part.height, part.width, 4)
        frame[part.y : part.y + part.height, part.x : part.x + part.width] = pixels
        boxes.append((part.x, part.y, part.width, part.height))
    return boxes


class RegionKeeper:
    """Follows a picture, and says what of it to write."""

    def __init__(self, width: int, height: int, regions: Sequence[Box]) -> None:
        self._regions = regions
        self._now = np.zeros((height, width, 4), np.uint8)
        self._written = np.zeros((height, width), np.uint32)
        self._colours = np.full((height, width), COARSE, np.uint32)
        for x, y, wide, high in regions:
            self._colours[y : y + high, x : x + wide] = COLOUR
        self._whole_at: float | None = None

    def keep(self, record: Record) -> Iterator[Record]:
        """What to write of a record: of an update its part of the regions; and now and then all of the picture.

        Raises:
            ValueError: it is no update of this picture.
        """
        message: bytes | None = None
        match record:
            case Update():
                message = self._take(record.at, record.message)
            case Said() if _begins_or_ends(record.said):
                message = self._whole(record.at)
            case _:
                pass
        if message is not None:
            yield Update(record.at, message)
        if not isinstance(record, Update):
            yield record

    def _take(self, at: float, message: bytes) -> bytes | None:
        boxes = blit(self._now, message)
        if self._whole_at is None or at - self._whole_at >= WHOLE_PICTURE_S:
            return self._whole(at)
        crossed = (_intersection(box, region) for box in boxes for region in self._regions)
        return self._write([changed for box in crossed if box and (changed := self._changed(box))])

    def _whole(self, at: float) -> bytes | None:
        """What to write so that the whole picture is there; None: it is."""
        self._whole_at = at
        differs = self._pixels(np.s_[:, :]) != self._written
        rows, columns = (range(0, size, TILE) for size in differs.shape)
        by_row = np.logical_or.reduceat(differs, rows, axis=0)
        tiles = np.logical_or.reduceat(by_row, columns, axis=1)
        high, wide = differs.shape
        found = [(int(row) * TILE, int(column) * TILE) for row, column in np.argwhere(tiles)]
        return self._write([(x, y, min(TILE, wide - x), min(TILE, high - y)) for y, x in found])

    def _changed(self, box: Box) -> Box | None:
        """The part of ``box`` that isn't written yet."""
        x, y, width, height = box
        place = np.s_[y : y + height, x : x + width]
        differs = self._pixels(place) != self._written[place]
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


def _begins_or_ends(said: Mapping[str, Any]) -> bool:
    return said.get("report") in ("ready", "done") or said.get("event") == "end"


def _intersection(one: Box, other: Box) -> Box | None:
    x, y = max(one[0], other[0]), max(one[1], other[1])
    width, height = min(one[0] + one[2], other[0] + other[2]) - x, min(one[1] + one[3], other[1] + other[3]) - y
    return (x, y, width, height) if width > 0 and height > 0 else None
