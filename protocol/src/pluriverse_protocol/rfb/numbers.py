"""The numbers of RFB: message types, encodings, flags."""

from __future__ import annotations

import enum
from typing import Final


class ClientMessage(enum.IntEnum):
    """Types of messages to the server."""

    SET_PIXEL_FORMAT = 0
    SET_ENCODINGS = 2
    FRAMEBUFFER_UPDATE_REQUEST = 3
    KEY_EVENT = 4
    POINTER_EVENT = 5
    CLIENT_CUT_TEXT = 6
    ENABLE_CONTINUOUS_UPDATES = 150
    FENCE = 248
    XVP = 250  # shut down, reboot
    SET_DESKTOP_SIZE = 251
    QEMU = 255


class ServerMessage(enum.IntEnum):
    """Types of messages from the server."""

    FRAMEBUFFER_UPDATE = 0
    SET_COLOUR_MAP_ENTRIES = 1
    BELL = 2
    SERVER_CUT_TEXT = 3
    END_OF_CONTINUOUS_UPDATES = 150
    FENCE = 248


class Encoding(enum.IntEnum):
    """Encodings, and pseudo-encodings, which name extensions."""

    RAW = 0
    COPYRECT = 1
    TIGHT = 7
    DESKTOP_SIZE = -223
    LAST_RECT = -224
    CURSOR = -239
    QEMU_EXTENDED_KEY_EVENT = -258
    EXTENDED_DESKTOP_SIZE = -308
    FENCE = -312
    CONTINUOUS_UPDATES = -313
    EXTENDED_MOUSE_BUTTONS = -316


# Pseudo-encodings with a level, which is added to them.
QUALITY_LEVEL: Final = -32  # 0 to 9
COMPRESS_LEVEL: Final = -256  # 0 to 9
FINE_QUALITY_LEVEL: Final = -512  # 0 to 100
# How many pixels share one value of chroma.
SUBSAMPLING: Final = {"4:4:4": -768, "4:2:0": -767, "4:2:2": -766, "grey": -765, "8x": -764, "16x": -763}


class FenceFlag(enum.IntFlag):
    """Flags of a fence."""

    BLOCK_BEFORE = 1
    BLOCK_AFTER = 2
    SYNC_NEXT = 4
    REQUEST = 1 << 31
