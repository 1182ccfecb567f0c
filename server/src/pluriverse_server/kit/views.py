"""Pictures as an agent asks for them, to the last bit as its own driver would make them of the whole ones.

Both are made by the same source in C; where that wasn't built, there are no views, and agents get whole pictures.
"""

from __future__ import annotations

import ctypes
from ctypes import c_bool, c_char, c_int, c_void_p
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pluriverse_protocol.step_channel import WHOLE_WITH_AUDIO, View

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


def make(pixels: NDArray[np.uint8], view: View | None) -> tuple[Shape, memoryview]:
    """Return the shape and the bytes of what ``view`` asks of ``pixels``, RGB or grey; None: all of them, as they are.

    Raises:
        OSError: pictures can't be made.
    """
    if view in (None, WHOLE_WITH_AUDIO):
        height, width, channels = pixels.shape
        return (height, width, channels), _bytes(pixels)
    if pixels.shape[2] == 1:
        pixels = pixels.repeat(3, axis=2)
    height, width, _ = pixels.shape
    x, y, across, down = view.crop or (0, 0, width, height)
    rows, columns = view.size or (down, across)
    channels = 1 if view.grey else 3
    wanted = _Wanted(_Region(x, y, across, down), columns, rows, 1, view.grey)
    made = bytearray(rows * columns * channels)
    whole = pixels if pixels.flags.c_contiguous else pixels.copy()
    if not _make(LIBRARY)(whole.ctypes.data, width, height, wanted, (c_char * len(made)).from_buffer(made)):
        raise MemoryError
    return (rows, columns, channels), memoryview(made)


def _bytes(pixels: NDArray[np.uint8]) -> memoryview:
    return (pixels if pixels.flags.c_contiguous else pixels.copy()).data.cast("B")


@cache
def _make(library: Path) -> Any:
    function = ctypes.CDLL(str(library)).make_view
    function.argtypes = [c_void_p, c_int, c_int, ctypes.POINTER(_Wanted), c_void_p]
    function.restype = c_bool
    return function
