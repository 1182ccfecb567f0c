"""The runs of ZRLE, and the bytes that they are taken from."""

from __future__ import annotations

from typing import Final

import numpy as np
from pluriverse_protocol.rfb.errors import BadData

from pluriverse.rfb.picture import Pixels

# A run's length is 1 and its bytes added up; each byte of 255 says that another follows.
MORE: Final = 255
IS_RUN: Final = 128
RECORD_BYTES: Final = 4  # a colour and a length that is one byte


class Bytes:
    """Inflated data, taken from front to back."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at: int = 0
        self._array = np.frombuffer(data, np.uint8)

    @property
    def left(self) -> int:
        """How many bytes have not been taken."""
        return len(self.data) - self.at

    def take(self, count: int) -> bytes:
        """The next bytes.

        Raises:
            BadData: there aren't so many.
        """
        return self.data[self._advance(count) : self.at]

    def take_array(self, count: int) -> Pixels:
        """The next bytes, as an array."""
        return self._array[self._advance(count) : self.at]

    def peek_records(self, most: int) -> Pixels:
        """The bytes ahead as records of a colour and a length, as many as are whole, at most ``most``."""
        count = min(most, self.left // RECORD_BYTES)
        return self._array[self.at : self.at + count * RECORD_BYTES].reshape(count, RECORD_BYTES)

    def take_run_length(self, limit: int) -> int:
        """How long a run is, in pixels.

        Raises:
            BadData: longer than ``limit``, or the data ends.
        """
        length, octet = 1, MORE
        while octet == MORE and length <= limit:
            octet = self.take(1)[0]
            length += octet
        if length > limit:
            raise BadData("a run of ZRLE leaves its tile")
        return length

    def _advance(self, count: int) -> int:
        if count > self.left:
            raise BadData("ZRLE data ends within a tile")
        before = self.at
        self.at += count
        return before


def plain_runs(data: Bytes, total: int) -> Pixels:
    """``total`` pixels, shape (total, 3), of runs that each bring their colour."""
    pixels = np.empty((total, 3), np.uint8)
    done = 0
    while done < total:
        # All runs of up to 255 pixels, which take four bytes each, are done at once up to a longer one.
        records = data.peek_records(total - done)
        ends = records[:, 3].cumsum(dtype=np.intp) + np.arange(1, len(records) + 1)
        longer = np.flatnonzero(records[:, 3] == MORE)
        usable = min(int(np.searchsorted(ends, total - done, side="right")), int(longer[0]) if longer.size else total)
        if usable:
            data.take(usable * RECORD_BYTES)
            lengths = records[:usable, 3].astype(np.intp) + 1
            size = int(ends[usable - 1])
            pixels[done : done + size] = records[:usable, :3].repeat(lengths, axis=0)
        else:
            colour = data.take_array(3)
            size = data.take_run_length(total - done)
            pixels[done : done + size] = colour
        done += size
    return pixels


def palette_runs(data: Bytes, total: int) -> tuple[Pixels, list[int]]:
    """Runs that come to ``total`` pixels: the index of each one's colour, and its length."""
    indices, lengths = bytearray(), list[int]()
    done = 0
    while done < total:
        octet = data.take(1)[0]
        length = data.take_run_length(total - done) if octet & IS_RUN else 1
        indices.append(octet & ~IS_RUN)
        lengths.append(length)
        done += length
    return np.frombuffer(indices, np.uint8), lengths
