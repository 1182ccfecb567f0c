"""The metadata block as a QR code, which Universe's agents look for in their Flash games."""

from __future__ import annotations

from typing import Final

import segno

from pluriverse_server.kit import Pacer, Window

# The square that these agents read.
SIDE: Final = 100

# A code of version 2 has 25 modules a side.
_MODULES: Final = 25
MODULE: Final = 3
_MARGIN: Final = (SIDE - _MODULES * MODULE) // 2
_WHITE, _BLACK = b"\xff\xff\xff\xff", b"\x00\x00\x00\x00"

# As Universe's own: reading one costs an agent a millisecond.
FPS: Final = 5.0


class QrWindow:
    """The code in a small window above all others, which takes neither clicks nor focus."""

    def __init__(self, x: int, y: int, title: str, now: float) -> None:
        """Open it at (x, y) of the screen, its first frame due at ``now``."""
        self._window = Window(SIDE, SIDE, x, y, title, click_through=True)
        self._region = self._window.image(0, 0, SIDE, SIDE)
        self._pacer = Pacer(FPS, now)

    @property
    def next_due(self) -> float:
        return self._pacer.next_due

    def hide(self) -> None:
        """Leave the place to what is below, until the next ``attend``."""
        self._window.to_bottom()

    def attend(self, now: float, clock: int, probe: int) -> None:
        """Paint a frame if one is due. ``clock`` and ``probe``: as ``pluriverse_protocol.metadata`` has them."""
        if not self._pacer.take(now):
            return
        rows = [_WHITE * SIDE] * SIDE
        code = segno.make_qr(f"v1:{clock:012x}{probe:012x}", error="l", version=2, mask=0, boost_error=False)
        for place, modules in enumerate(code.matrix):
            dots = b"".join((_BLACK if module else _WHITE) * MODULE for module in modules)
            row = _WHITE * _MARGIN + dots + _WHITE * (SIDE - _MODULES * MODULE - _MARGIN)
            top = _MARGIN + place * MODULE
            rows[top : top + MODULE] = [row] * MODULE
        self._region.memory[:] = b"".join(rows)
        self._window.to_top()
        self._window.put(self._region)
