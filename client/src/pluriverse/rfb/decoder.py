"""The interface of a decoder, and the choice between its two implementations.

The native one is chosen where it was built, the one in Python otherwise. ``PLURIVERSE_RFB=python`` or
``PLURIVERSE_RFB=native`` in the environment insists on one.
"""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.rfb.geometry import Region

from .errors import DecoderUnavailable
from .events import Event
from .picture import PictureSpec, Pixels
from .picture import make_picture as make_in_python

__all__ = ["ENVIRONMENT_VARIABLE", "Decoder", "Region", "decoder_class", "implementation", "make_picture"]

ENVIRONMENT_VARIABLE: Final = "PLURIVERSE_RFB"


class Decoder(Protocol):
    """Decodes a server's messages after ServerInit, once it was sent ``messages.set_pixel_format()``. No I/O.

    ``regions`` are what the picture is wanted of; without any it is all of it. What lies outside of all of them may
    stay as it was, so with regions CopyRect must not be asked for: it could copy old pixels into a region.
    ``spec`` says what ``picture`` and ``block`` are; without one, all of the screen and none. JPEG tiles and
    palettes' are not painted on the framebuffer of a grey picture, unless the block is there.
    """

    @property
    def width(self) -> int: ...

    @property
    def height(self) -> int: ...

    @property
    def framebuffer(self) -> NDArray[np.uint8]:
        """RGB, shape (height, width, 3), C-contiguous; black at first, another array after a ``Resized``."""
        ...

    @property
    def picture(self) -> NDArray[np.uint8]:
        """A copy of what is made of the framebuffer: RGB, or grey of shape (height, width, 1)."""
        ...

    @property
    def block(self) -> bytes | None:
        """The pixels of the block, RGB, row by row; black beyond the desktop. None if there is no block."""
        ...

    @property
    def updates(self) -> int:
        """Framebuffer updates that were completed so far."""
        ...

    @property
    def pixels(self) -> int:
        """Pixels of all picture rectangles that were completed so far, also of those outside of the regions."""
        ...

    @property
    def in_update(self) -> bool:
        """Whether the server owes the rest of an update, or of another message."""
        ...

    @property
    def extended_buttons(self) -> bool:
        """Whether the server takes pointer events with nine buttons."""
        ...

    def __init__(
        self, width: int, height: int, *, regions: Sequence[Region] | None = None, spec: PictureSpec | None = None
    ) -> None: ...

    def feed(self, data: bytes | bytearray | memoryview) -> list[Event]:
        """Take in the next bytes of the stream, however it was cut. What happened, in its order."""
        ...


def decoder_class(wish: str | None = None) -> type[Decoder]:
    """Return the implementation that is wished for, or else the one that ``implementation()`` names."""
    return _chosen(wish)[0]


def implementation() -> str:
    """Which implementation runs, and why: ``python: the native part was not built (ImportError: …)``."""
    return _chosen()[1]


def make_picture(screen: Pixels, spec: PictureSpec) -> Pixels:
    """What ``spec``, without a scale, asks of a screen, RGB of shape (height, width, 3)."""
    return _picture_maker()(screen, spec)


@functools.cache
def _picture_maker() -> Callable[[Pixels, PictureSpec], Pixels]:
    if decoder_class() is _python():
        return make_in_python
    native = importlib.import_module("pluriverse.rfb._native").make_picture

    def make(screen: Pixels, spec: PictureSpec) -> Pixels:
        height, width = screen.shape[:2]
        crop = spec.crop or Region(0, 0, width, height)
        down, across = spec.size or (crop.height, crop.width)
        pixels = native(np.ascontiguousarray(screen), height, width, spec)
        return np.frombuffer(pixels, np.uint8).reshape(down, across, 1 if spec.grey else 3)

    return make


def _chosen(wish: str | None = None) -> tuple[type[Decoder], str]:
    wish = wish or os.environ.get(ENVIRONMENT_VARIABLE, "")
    if wish not in ("", "python", "native"):
        raise DecoderUnavailable(f"{ENVIRONMENT_VARIABLE} is {wish!r}, expected python or native, or unset it")
    if wish == "python":
        return _python(), f"python: {ENVIRONMENT_VARIABLE}=python requests it"
    try:
        native: type[Decoder] = importlib.import_module("pluriverse.rfb._native").NativeDecoder
    except ImportError as error:
        why = f"the native part was not built ({type(error).__name__}: {error})"
        if wish == "native":
            raise DecoderUnavailable(
                f"the native decoder was requested, but {why}; build it with: pip install --force-reinstall "
                "pluriverse, with a C compiler and the headers of libjpeg-turbo and zlib"
            ) from error
        return _python(), f"python: {why}"
    asked = f"{ENVIRONMENT_VARIABLE}=native requests it" if wish == "native" else "it was built and is faster"
    return native, f"native: {asked}"


def _python() -> type[Decoder]:
    # Loads what the native one does without.
    from .python_decoder import PythonDecoder

    return PythonDecoder
