"""What this side says after ServerInit: pure functions from values to bytes. Keys are X keysyms, as RFB has them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

from .limits import MAX_CLIPBOARD_BYTES, MAX_FENCE_BYTES
from .numbers import ClientMessage

BITS_PER_PIXEL: Final = 32
DEPTH: Final = 24
MAX_COLOUR: Final = 255
RED_SHIFT: Final = 16
GREEN_SHIFT: Final = 8
BLUE_SHIFT: Final = 0

# The one format that the decoders know: in memory a pixel is the bytes blue, green, red, unused. It is how X servers
# keep their screens, so that theirs is the least work, and the one for which Tight sends three bytes a pixel.
PIXEL_FORMAT: Final = struct.pack(
    ">BBBBHHHBBBxxx",
    BITS_PER_PIXEL,
    DEPTH,
    False,  # little-endian
    True,  # true colour
    MAX_COLOUR,
    MAX_COLOUR,
    MAX_COLOUR,
    RED_SHIFT,
    GREEN_SHIFT,
    BLUE_SHIFT,
)


def set_pixel_format() -> bytes:
    """Ask for pixels in the one format that the decoders know. Must be the first message after ServerInit."""
    return struct.pack(">Bxxx", ClientMessage.SET_PIXEL_FORMAT) + PIXEL_FORMAT


def set_encodings(encodings: Sequence[int]) -> bytes:
    """Name the encodings that may be used, the best first; ``preferences.preferred_encodings`` makes the list."""
    return struct.pack(f">BxH{len(encodings)}i", ClientMessage.SET_ENCODINGS, len(encodings), *encodings)


def framebuffer_update_request(x: int, y: int, width: int, height: int, *, incremental: bool) -> bytes:
    """Ask for a part of the picture, in pixels: all of it now, or ``incremental`` what changes, once it does."""
    return struct.pack(">BBHHHH", ClientMessage.FRAMEBUFFER_UPDATE_REQUEST, incremental, x, y, width, height)


def key_event(keysym: int, down: bool) -> bytes:
    """A key goes down or up."""
    return struct.pack(">BBxxI", ClientMessage.KEY_EVENT, down, keysym)


def pointer_event(x: int, y: int, mask: int) -> bytes:
    """The pointer is at (x, y), in pixels; bit n of ``mask`` says that button n+1 is down."""
    return struct.pack(">BBHH", ClientMessage.POINTER_EVENT, mask, x, y)


def client_cut_text(text: str) -> bytes:
    """Text for the server's clipboard. RFB has Latin-1 here: other characters become question marks.

    Raises:
        ValueError: it is longer than MAX_CLIPBOARD_BYTES.
    """
    data = text.encode("latin-1", errors="replace")
    if len(data) > MAX_CLIPBOARD_BYTES:
        raise ValueError(f"a clipboard of {len(data)} bytes, over {MAX_CLIPBOARD_BYTES}")
    return struct.pack(">BxxxI", ClientMessage.CLIENT_CUT_TEXT, len(data)) + data


def fence(flags: int, payload: bytes) -> bytes:
    """Set a fence (``FenceFlag.REQUEST`` among ``flags``), or answer one: its flags without REQUEST, its payload.

    Raises:
        ValueError: the payload is longer than MAX_FENCE_BYTES.
    """
    if len(payload) > MAX_FENCE_BYTES:
        raise ValueError(f"a fence of {len(payload)} bytes, over {MAX_FENCE_BYTES}")
    return struct.pack(">BxxxIB", ClientMessage.FENCE, flags, len(payload)) + payload


def enable_continuous_updates(enable: bool, x: int, y: int, width: int, height: int) -> bytes:
    """Ask for updates of a part of the picture as they come, without requests; or for no more of that.

    Only for a server that has said by an ``EndOfContinuousUpdates`` that it knows them.
    """
    return struct.pack(">BBHHHH", ClientMessage.ENABLE_CONTINUOUS_UPDATES, enable, x, y, width, height)
