"""A real X server of one's own for a test, and its pixels."""

import contextlib
import mmap
import os
import struct
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import Final

import numpy as np
import xvfbwrapper  # pyright: ignore[reportMissingTypeStubs] - its source has the types
from numpy.typing import NDArray
from pluriverse_protocol.child_process import child_environment
from pluriverse_server.x11.connection import DisplayLost, open_display

WIDTH: Final = 1024
HEIGHT: Final = 768

# XWDFile.h: the header's size is its first word, the number of colours its twentieth; a colour takes 12 bytes.
COLOURS_AT: Final = 19 * 4
COLOUR_BYTES: Final = 12


class Xvfb:
    """A running X server; ``environment`` is what its clients need."""

    def __init__(self, name: str, framebuffer: Path) -> None:
        self.name = name
        self.environment = child_environment(os.environ, {"DISPLAY": name})
        with framebuffer.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)
        header, colours = struct.unpack_from(">I", self._map, 0)[0], struct.unpack_from(">I", self._map, COLOURS_AT)[0]
        self._offset = header + colours * COLOUR_BYTES

    def pixels(self, x: int = 0, y: int = 0, width: int = WIDTH, height: int = HEIGHT) -> NDArray[np.uint8]:
        """Return what is on the screen now: RGB, shape (height, width, 3)."""
        screen = np.frombuffer(self._map, np.uint8, WIDTH * HEIGHT * 4, self._offset).reshape(HEIGHT, WIDTH, 4)
        return screen[y : y + height, x : x + width, 2::-1].copy()


@contextlib.contextmanager
def bare_xvfb(width: int, height: int, *options: str) -> Generator[tuple[str, int]]:
    """Start an X server; yield its name and process id once clients can connect."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["-noreset", "-nolisten", "tcp", *options]
        server = xvfbwrapper.Xvfb(
            width, height, tempdir=folder, environ={**os.environ}, extra_args=arguments, timeout=60
        )
        with server:
            assert server.proc is not None
            name = f":{server.new_display}"
            # Its socket is there before it listens, which is before its screen is there.
            while True:
                try:
                    open_display(name).close()
                    break
                except DisplayLost:
                    if server.proc.poll() is not None:
                        raise
                    time.sleep(0.01)
            yield name, server.proc.pid


@contextlib.contextmanager
def xvfb(*options: str) -> Generator[Xvfb]:
    """Start an X server with further ``options``."""
    with tempfile.TemporaryDirectory() as folder, bare_xvfb(WIDTH, HEIGHT, "-fbdir", folder, *options) as (name, _):
        yield Xvfb(name, Path(folder) / "Xvfb_screen0")
