"""The metadata block above programs that can't paint it, with each frame's clock and the probes that were pressed."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from pluriverse_server.kit import BlockWindow, Keyboard, Pacer

from .qr_window import QrWindow

# By which the screens of spares know what stays above them.
TITLE: Final = "pluriverse overlay"


class OverlayBlock:
    """The block's window, raised and painted with each frame."""

    def __init__(
        self, x: int, y: int, fps: float, probes: Collection[int], now: float, *, qr: tuple[int, int] | None = None
    ) -> None:
        """Show the block at (x, y) of the screen, its first frame due at ``now``, which may be any steady clock's.

        ``probes``: keysyms of which a press is an action probe. ``qr``: where to show the same as a QR code.
        """
        self._shown = BlockWindow(x, y, TITLE)
        self._qr = QrWindow(*qr, TITLE, now) if qr is not None else None
        self._probe_at = 0.0
        self._keyboard = Keyboard(self._shown.window)
        self._pacer: Pacer | None = Pacer(fps, now)
        self._probes = frozenset(probes)

    def fileno(self) -> int:
        return self._keyboard.fileno()

    def wait_s(self, now: float) -> float | None:
        """Return the seconds until something is to be done, unless a key comes in; None: only then."""
        if self._keyboard.waiting:
            return 0.0
        if self._pacer is None:
            return None
        due = self._pacer.next_due if self._qr is None else min(self._pacer.next_due, self._qr.next_due)
        return max(0.0, due - now)

    def pace(self, fps: float, now: float) -> None:
        """Paint ``fps`` frames a second from ``now`` on; 0: none, and the place is what is below's."""
        if fps == 0:
            self._pacer = None
            self._shown.window.to_bottom()
            if self._qr is not None:
                self._qr.hide()
        elif self._pacer is None or fps != self._pacer.fps:
            self._pacer = Pacer(fps, now)

    def attend(self, now: float, wall_clock: float) -> None:
        """Read keys, and draw a frame if one is due. ``wall_clock``: UNIX seconds, for the block."""
        for edge in self._keyboard.events():
            if edge.down and edge.keysym in self._probes:
                self._shown.block.saw_probe(edge.at)
                self._probe_at = edge.at
        if self._pacer is None:
            return
        if self._pacer.take(now):
            self._shown.paint(wall_clock)
        if self._qr is not None:
            self._qr.attend(now, int(wall_clock * 1000), int(self._probe_at * 1000))
