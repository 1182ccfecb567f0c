"""What a remote plays: a file that the scraper writes it to, beside the screen's, and all who listen read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.sound import CHANNELS, FRAME_BYTES

# In the folder of the screen's cookie.
FILE: Final = "sound"

# Over a second: who reads later misses some.
FRAMES: Final = 65536

# Before them is how many there were.
_COUNT_BYTES: Final = 8
_MOST: Final = 2**63


class SoundFile:
    """The last of what was played, and how many frames there were. Not mapped: programs could make it shorter."""

    @classmethod
    def make(cls, path: Path) -> Self:
        """Make the file, unless there is one."""
        path.touch()
        return cls(path)

    def __init__(self, path: Path) -> None:
        self._file = path.open("r+b", buffering=0)

    @property
    def count(self) -> int:
        return int.from_bytes(os.pread(self._file.fileno(), _COUNT_BYTES, 0), "little")

    def put(self, sound: NDArray[np.int16]) -> None:
        """Add what was played since: shape (frames, 2), left and right."""
        end = (self.count + len(sound)) % _MOST
        kept = sound[-FRAMES:].astype("<i2")
        first = FRAMES - (end - len(kept)) % FRAMES
        for part, at in ((kept[:first], -first % FRAMES), (kept[first:], 0)):
            if len(part):
                os.pwrite(self._file.fileno(), part.tobytes(), _COUNT_BYTES + FRAME_BYTES * at)
        os.pwrite(self._file.fileno(), end.to_bytes(_COUNT_BYTES, "little"), 0)

    def since(self, count: int) -> tuple[NDArray[np.int16], int]:
        """Return what was played since there were ``count`` frames, as far as it is there, and how many there are."""
        end = self.count
        # What is half as old may be overwritten meanwhile.
        left = min(max(0, end - count), FRAMES // 2)
        at = (end - left) % FRAMES
        first = min(left, FRAMES - at)
        data = self._read(at, first) + self._read(0, left - first)
        return np.frombuffer(data[: len(data) // FRAME_BYTES * FRAME_BYTES], "<i2").reshape(-1, CHANNELS), end

    def close(self) -> None:
        self._file.close()

    def _read(self, at: int, frames: int) -> bytes:
        return os.pread(self._file.fileno(), FRAME_BYTES * frames, _COUNT_BYTES + FRAME_BYTES * at)
