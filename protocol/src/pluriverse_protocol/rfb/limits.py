"""Every limit on what a peer may send, by name, each with the reason for its number.

The client's native decoder has the same numbers; a test compares them.
"""

from __future__ import annotations

from typing import Final

from pluriverse_protocol import limits

# Of a desktop.
MAX_SIDE: Final = limits.MAX_SIDE
MAX_PIXELS: Final = limits.MAX_PIXELS

# What is copied by hand is text of some pages; TigerVNC itself takes no more than 256 KiB.
MAX_CLIPBOARD_BYTES: Final = 1024 * 1024

# The largest cursors of desktop themes are 256 pixels each way.
MAX_CURSOR_SIDE: Final = 1024

# The fence extension's own limit.
MAX_FENCE_BYTES: Final = 64

# Some forty encodings are registered, and a client names each at most once.
MAX_ENCODINGS: Final = 1024

# A desktop's name is shown in a window's title.
MAX_NAME_BYTES: Final = 4096

# Why a server refuses is a sentence or two.
MAX_REASON_BYTES: Final = 4096

# RFB counts the rectangles of an update in 16 bits.
MAX_RECTANGLES: Final = 65_535
