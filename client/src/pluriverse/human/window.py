"""The window that a person plays in: the picture, enlarged if it is small, and text below it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.rfb.geometry import Box

from pluriverse.env.views import WindowView
from pluriverse.errors import ConfigurationError

# A picture is enlarged by whole numbers, up to about this width and height.
LARGE: Final = (960, 720)

# Of text, below the picture.
LINES: Final = 2


class PlayWindow(WindowView):
    """Shows the part ``box`` of screens: x, y, width and height, in pixels."""

    def __init__(self, title: str, box: Box) -> None:
        try:
            super().__init__(title)
        except (ImportError, RuntimeError) as error:
            raise ConfigurationError(
                f"no window can be opened ({error}); play on a desktop, with tkinter (Debian's python3-tk)"
            ) from error
        self._box = box
        self.zoom: int = max(1, min(LARGE[0] // box[2], LARGE[1] // box[3]))
        """How many pixels of the window are one of the picture, each way."""
        size = box[2] * self.zoom, box[3] * self.zoom
        # Text wraps, and never changes the size: a window that grows may cover others, or move under the mouse.
        lines: dict[str, Any] = {"width": 1, "height": LINES, "wraplength": size[0]}
        self._status: Any = self._tk.Label(self._window, anchor="nw", justify="left", font="TkFixedFont", **lines)
        self._status.pack(side="bottom", fill="x")
        self._window.resizable(False, False)
        self._left = False
        self._window.bind("<FocusOut>", self._leave)
        super().show(np.zeros((size[1], size[0], 3), np.uint8))

    @property
    def is_open(self) -> bool:
        """Whether the person hasn't closed it."""
        return self._open

    def kept_focus(self) -> bool:
        """Return whether what is typed goes to it, as of the last ``update``, and did ever since the last call."""
        left, self._left = self._left, False
        return self._open and not left and self._window.focus_displayof() is not None

    def show(self, picture: NDArray[np.uint8]) -> None:
        """Show a screen's part: uint8 (height, width, 3) RGB."""
        x, y, width, height = self._box
        part = picture[y : y + height, x : x + width]
        super().show(part if self.zoom == 1 else part.repeat(self.zoom, axis=0).repeat(self.zoom, axis=1))

    def say(self, text: str) -> None:
        """Show this text below the picture."""
        if self._open and self._status["text"] != text:
            self._status.configure(text=text)

    def update(self) -> None:
        """Let the window do what the desktop asks of it."""
        if self._open:
            self._window.update()

    def place(self, x: int, y: int) -> tuple[int, int]:
        """Return the pixel of the screen at a pixel of the desktop; it may lie outside of the part."""
        left, top, _, _ = self._box
        across, down = x - self._label.winfo_rootx(), y - self._label.winfo_rooty()
        return left + across // self.zoom, top + down // self.zoom

    def _leave(self, event: object) -> None:
        del event
        self._left = True
