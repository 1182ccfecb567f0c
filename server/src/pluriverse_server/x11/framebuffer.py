"""The memory in which an Xvfb has its screen, shared as a file: reading there takes neither a request nor a copy."""

from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

# What Xvfb calls it, in the folder of its option -fbdir.
FILE: Final = "Xvfb_screen0"

# XWDFile.h: words, the highest byte first; then colours of 12 bytes, then the pixels.
_HEADER: Final = struct.Struct(">25I")
_VERSION: Final = 7
_COLOUR_BYTES: Final = 12
_PIXEL_BYTES: Final = 4


class NoFramebuffer(Exception):
    """There is no such file, or its pixels aren't as expected; the message gives the reason."""


def make_memory(path: Path) -> int:
    """Have ``path`` lead to memory, which no disk is written for, in each process that has the returned descriptor."""
    memory = os.memfd_create(path.name)
    path.symlink_to(f"/proc/self/fd/{memory}")
    return memory


def framebuffer(path: Path) -> NDArray[np.uint8]:
    """Return the pixels of a screen as they are at any time, read-only: blue, green, red and an unused byte each.

    Shape (height, width, 4). They include the cursor where the server draws one, and stay when the server goes.
    """
    try:
        with path.open("rb") as file:
            memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        words = _HEADER.unpack_from(memory)
        size, version, width, height, bits, stride, colours = (words[i] for i in (0, 1, 4, 5, 11, 12, 19))
        if version != _VERSION or bits != 8 * _PIXEL_BYTES:
            raise NoFramebuffer(f"{path} has version {version} and pixels of {bits} bits, expected 7 and 32")
        rows = np.frombuffer(memory, np.uint8, height * stride, size + colours * _COLOUR_BYTES)
        return rows.reshape(height, stride // _PIXEL_BYTES, _PIXEL_BYTES)[:, :width]
    except (OSError, ValueError, struct.error) as error:
        raise NoFramebuffer(f"{path} isn't a screen's memory: {error}") from error
