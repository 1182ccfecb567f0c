"""Shows pictures to people in a window."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pluriverse.errors import ConfigurationError
from pluriverse.forks import Owner

Picture = NDArray[np.uint8]


class Window:
    def __init__(self, title: str) -> None:
        """Open it; raise ``ConfigurationError`` where there is no display, or Python was built without tkinter."""
        problem: type[Exception] = ImportError
        try:
            self._tk = tk = importlib.import_module("tkinter")
            problem = tk.TclError
            self._window = tk.Tk(className="pluriverse")
        except problem as error:
            raise ConfigurationError(
                f"no window can be opened: {error}; open the remote's viewer in a browser, or render as rgb_array"
            ) from error
        self._window.title(title)
        self._window.protocol("WM_DELETE_WINDOW", self.close)
        self._label = tk.Label(self._window, borderwidth=0)
        self._label.pack()
        self._image: Any = None
        self._open = True
        self._owner = Owner("this window")

    def show(self, picture: Picture) -> None:
        """Show a picture, uint8 (height, width, 3) RGB or grey; nothing once people have closed the window."""
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


def _colour(picture: Picture) -> Picture:
    """Grey pictures have one channel, or none."""
    if picture.ndim == 2:
        picture = picture[:, :, None]
    return np.repeat(picture, 3, axis=2) if picture.shape[2] == 1 else picture
