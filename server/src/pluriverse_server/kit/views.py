"""Pictures as an agent asks for them, to the last bit as its own driver would make them of the whole ones.

Both are made by the same source in C; where that wasn't built, there are no views, and agents get whole pictures.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import c_bool, c_char, c_int, c_void_p
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pluriverse_protocol.step_channel import View

if TYPE_CHECKING:
    # The overlay, which uses the window of the kit, does without.
    import numpy as np
    from numpy.typing import NDArray

LIBRARY: Final = Path(__file__).parent / "make_view.so"

Shape = tuple[int, int, int]


class _Region(ctypes.Structure):
    _fields_ = [(name, c_int) for name in ("x", "y", "width", "height")]


class _Wanted(ctypes.Structure):
    """``struct rfb_picture_options``."""

    _fields_ = [
        ("crop", _Region),
        ("width", c_int),
        ("height", c_int),
        ("scale", c_int),
        ("grey", c_bool),
        ("block", _Region),
    ]


def available() -> bool:
    """Whether pictures can be made."""
    try:
        _make(LIBRARY)
    except OSError:
        return False
    return True


def make(
    pixels: NDArray[np.uint8], view: View | None, changes: Sequence[tuple[int, int]] | None = None
) -> tuple[Shape, tuple[int, ...] | None, bytes | memoryview]:
    """Return the shape of what ``view`` asks of ``pixels``, RGB or grey, its rows that are to be sent, and their bytes.

    ``view`` None: all of them, as they are. Rows are as in ``StepReply``, None: all of them. ``changes``: the runs of
    rows of ``pixels`` that may differ since the last time; None: all may.

    Raises:
        OSError: pictures can't be made.
    """
    if view is None or view.is_whole:
        height, width, channels = pixels.shape
        if changes is None:
            return (height, width, channels), None, _bytes(pixels)
        parts = [_bytes(pixels[first : first + count]) for first, count in changes]
        return (height, width, channels), tuple(chain.from_iterable(changes)), b"".join(parts)
    if pixels.shape[2] == 1:
        pixels = pixels.repeat(3, axis=2)
    height, width, _ = pixels.shape
    x, y, across, down = view.crop or (0, 0, width, height)
    rows, columns = view.size or (down, across)
    channels = 1 if view.grey else 3
    if changes is not None and not changes:
        return (rows, columns, channels), (), b""
    wanted = _Wanted(_Region(x, y, across, down), columns, rows, 1, view.grey)
    made = bytearray(rows * columns * channels)
    whole = pixels if pixels.flags.c_contiguous else pixels.copy()
    if not _make(LIBRARY)(whole.ctypes.data, width, height, wanted, (c_char * len(made)).from_buffer(made)):
        raise MemoryError
    return (rows, columns, channels), None, memoryview(made)


def _bytes(pixels: NDArray[np.uint8]) -> memoryview:
    return (pixels if pixels.flags.c_contiguous else pixels.copy()).data.cast("B")


@cache
def _make(library: Path) -> Any:
    function = ctypes.CDLL(str(library)).make_view
    function.argtypes = [c_void_p, c_int, c_int, ctypes.POINTER(_Wanted), c_void_p]
    function.restype = c_bool
    return function
