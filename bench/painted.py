"""The clock that a remote paints with each frame, read at a VNC client."""

from __future__ import annotations

import time
from typing import Final

from pluriverse_protocol import metadata
from pluriverse_protocol.metadata import Metadata
from support.rfb import RfbClient

# Where gym-core paints it, as its runtime.toml says; plain_pong.py does the same.
X: Final = 960
Y: Final = 16

FIRST_DEADLINE_S: Final = 30.0


class PaintedClock:
    """The clock on the screen that ``viewer`` sees."""

    def __init__(self, viewer: RfbClient) -> None:
        self._viewer = viewer

    def read(self) -> Metadata | None:
        """Return the block's content; None if there is no block."""
        block = self._viewer.framebuffer[Y : Y + metadata.HEIGHT, X : X + metadata.WIDTH, 2::-1]
        return metadata.decode(block[0].tobytes(), block[1].tobytes())

    def wait_for_first(self) -> None:
        """Take in updates until there is a block.

        Raises:
            RfbError: there was none in time.
        """
        self._viewer.wait_until(lambda: self.read() is not None, FIRST_DEADLINE_S)

    def frames(self, seconds: float) -> list[tuple[int, float]]:
        """What is seen in so many seconds: the clock painted in each frame (ms), and when that came (monotonic, s)."""
        seen: list[tuple[int, float]] = []
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if not self._viewer.update(left):
                continue
            now, block = time.monotonic(), self.read()
            if block is not None and (not seen or block.clock != seen[-1][0]):
                seen.append((block.clock, now))
        return seen
