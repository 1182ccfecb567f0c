"""A real X server of one's own for a test, and its pixels."""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
import subprocess
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pluriverse_server.process import child_environment

WIDTH: Final = 1024
HEIGHT: Final = 768

# XWDFile.h: the header's size is its first word, the number of colours its twentieth; a colour takes 12 bytes.
COLOURS_AT: Final = 19 * 4
COLOUR_BYTES: Final = 12


class Xvfb:
    """A running X server; ``environment`` is what its clients need."""

    def __init__(self, name: str, framebuffer: Path) -> None:
        self.name = name
        self.environment = child_environment({"DISPLAY": name})
        with framebuffer.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)
        header, colours = struct.unpack_from(">I", self._map, 0)[0], struct.unpack_from(">I", self._map, COLOURS_AT)[0]
        self._offset = header + colours * COLOUR_BYTES

    def pixels(self, x: int = 0, y: int = 0, width: int = WIDTH, height: int = HEIGHT) -> NDArray[np.uint8]:
        """What is on the screen now: RGB, shape (height, width, 3)."""
        screen = np.frombuffer(self._map, np.uint8, WIDTH * HEIGHT * 4, self._offset).reshape(HEIGHT, WIDTH, 4)
        return screen[y : y + height, x : x + width, 2::-1].copy()


@contextlib.contextmanager
def xvfb(*options: str) -> Generator[Xvfb]:
    """Start an X server on a display that is free, with further ``options``."""
    with tempfile.TemporaryDirectory() as folder:
        reads, writes = os.pipe()
        command = ["Xvfb", "-displayfd", str(writes), "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-noreset"]
        command += ["-nolisten", "tcp", "-fbdir", folder, *options]
        process = subprocess.Popen(command, pass_fds=(writes,), stderr=subprocess.DEVNULL)
        os.close(writes)
        try:
            with os.fdopen(reads) as answer:
                number = answer.readline().strip()
            assert number, "Xvfb ended without a display"
            yield Xvfb(f":{number}", Path(folder) / "Xvfb_screen0")
        finally:
            process.terminate()
            process.wait()
