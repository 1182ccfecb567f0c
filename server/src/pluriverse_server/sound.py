"""What a remote plays: a file that the scraper writes it to, beside the screen's, and all who listen read."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.sound import CHANNELS, FRAME_BYTES

# In the folder of the screen's cookie.
FILE: Final = "sound"

# Over a second: who reads later misses some.
FRAMES: Final = 65536
_HEAD_BYTES: Final = 8
_BYTES: Final = _HEAD_BYTES + FRAME_BYTES * FRAMES


class SoundFile:
    """The last of what was played, and how many frames there were."""

    @classmethod
    def make(cls, path: Path) -> Self:
        """Make the file, unless there is one."""
        with path.open("ab") as file:
            file.truncate(_BYTES)
        return cls(path)

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            memory = mmap.mmap(file.fileno(), _BYTES)
        self._count = np.frombuffer(memory, np.int64, 1)
        self._frames = np.frombuffer(memory, np.int16, offset=_HEAD_BYTES).reshape(FRAMES, CHANNELS)

    @property
    def count(self) -> int:
        return int(self._count[0])

    def put(self, sound: NDArray[np.int16]) -> None:
        """Add what was played since: shape (frames, 2), left and right."""
        end = self.count + len(sound)
        kept = sound[-FRAMES:]
        self._frames[np.arange(end - len(kept), end) % FRAMES] = kept
        self._count[0] = end

    def since(self, count: int) -> tuple[NDArray[np.int16], int]:
        """Return what was played since there were ``count`` frames, as far as it is there, and how many there are."""
        end = self.count
        # What is half as old may be overwritten meanwhile.
        return self._frames[np.arange(max(count, end - FRAMES // 2), end) % FRAMES], end
