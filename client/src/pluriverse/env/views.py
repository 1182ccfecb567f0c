"""Shows pictures to people: in the terminal with half blocks, or in a window."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any, Final, Protocol, TextIO

import numpy as np
from numpy.typing import NDArray

from pluriverse.errors import ConfigurationError
from pluriverse.forks import Owner

Picture = NDArray[np.uint8]

MODES: Final = ("human", "terminal", "rgb_array")

# A character cell is about twice as high as wide, and shows two pixels, one above the other: they come out square.
_HALF_BLOCK: Final = "▀"
_HOME: Final = "\x1b[H"
_CLEAR: Final = "\x1b[2J"
_RESET: Final = "\x1b[0m"

# Beside the picture nothing is shown; one line stays for what the agent prints.
RESERVED_LINES: Final = 1


class View(Protocol):
    def show(self, picture: Picture) -> None:
        """Show a picture: uint8 (height, width, 3) RGB."""
        ...

    def close(self) -> None: ...


def make_view(mode: str, *, title: str) -> View:
    """A view: ``"terminal"``, or ``"human"``, a window where there is a display and tkinter, else the terminal."""
    if mode not in ("human", "terminal"):
        raise ConfigurationError(f"render mode {mode!r}: expected one of {', '.join(MODES)}")
    if mode == "human" and os.environ.get("DISPLAY"):
        try:
            return WindowView(title)
        except (ImportError, RuntimeError):
            pass
    return TerminalView(sys.stdout)


class TerminalView:
    """Half blocks in 24-bit colour."""

    def __init__(self, out: TextIO, size: tuple[int, int] | None = None) -> None:
        """``size``: columns and lines; None for the terminal's own."""
        self._out = out
        self._size = size
        self._began = False

    def show(self, picture: Picture) -> None:
        columns, lines = self._size or shutil.get_terminal_size()
        rows = half_blocks(shrink(_colour(picture), columns, 2 * max(1, lines - RESERVED_LINES)))
        self._out.write((_HOME if self._began else _CLEAR + _HOME) + "\n".join(rows) + "\n")
        self._out.flush()
        self._began = True

    def close(self) -> None:
        self._out.write(_RESET)
        self._out.flush()


class WindowView:
    def __init__(self, title: str) -> None:
        import tkinter as tk

        self._tk = tk
        try:
            self._window = tk.Tk(className="pluriverse")
        except tk.TclError as error:
            raise RuntimeError(f"no window can be opened: {error}") from error
        self._window.title(title)
        self._window.protocol("WM_DELETE_WINDOW", self.close)
        self._label = tk.Label(self._window, borderwidth=0)
        self._label.pack()
        self._image: Any = None
        self._open = True
        self._owner = Owner("this window")

    def show(self, picture: Picture) -> None:
        """Show a picture; nothing once people have closed the window."""
        self._owner.require()
        if not self._open:
            return
        picture = _colour(picture)
        height, width = picture.shape[:2]
        # Tk reads PPM as it is. It forgets an image without references.
        data = b"P6 %d %d 255 " % (width, height) + np.ascontiguousarray(picture).tobytes()
        self._image = self._tk.PhotoImage(master=self._window, data=data, format="PPM")
        self._label.configure(image=self._image)
        self._window.update()

    def close(self) -> None:
        if self._open and self._owner.is_here:
            self._open = False
            self._image = None
            self._window.destroy()


def shrink(picture: Picture, width: int, height: int) -> Picture:
    """The picture in at most ``width`` by ``height`` pixels, by leaving pixels out; an even number of rows."""
    step = max(1, -(-picture.shape[1] // width), -(-picture.shape[0] // height))
    small = picture[::step, ::step]
    return small[: len(small) // 2 * 2]


def half_blocks(picture: Picture) -> list[str]:
    """A line of text for each two rows: the upper in the colour of the block, the lower in that of its ground."""
    lines: list[str] = []
    for upper, lower in zip(picture[0::2].tolist(), picture[1::2].tolist(), strict=True):
        line: list[str] = []
        before: tuple[Any, Any] | None = None
        for top, bottom in zip(upper, lower, strict=True):
            if (top, bottom) != before:
                line.append("\x1b[38;2;{};{};{};48;2;{};{};{}m".format(*top, *bottom))
                before = (top, bottom)
            line.append(_HALF_BLOCK)
        lines.append("".join(line) + _RESET)
    return lines


def _colour(picture: Picture) -> Picture:
    """Grey pictures have one channel, or none."""
    if picture.ndim == 2:
        picture = picture[:, :, None]
    return np.repeat(picture, 3, axis=2) if picture.shape[2] == 1 else picture
