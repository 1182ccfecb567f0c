"""Sound as it is sent: frames of two 16-bit integers, left and right, of little-endian byte order. Pure."""

from __future__ import annotations

from typing import Final

# Frames a second: a whole number in each frame of programs at 60, 50, 35, 30 or 25 a second.
RATE: Final = 44100

CHANNELS: Final = 2
FRAME_BYTES: Final = 2 * CHANNELS

# What is heard of a step is the last of it: a minute, as long as a step may be at 60 frames a second.
MAX_STEP_FRAMES: Final = 60 * RATE

# Where a remote sends what is played, as it is: in binary messages of a WebSocket on the rewarder port.
PATH: Final = "/sound"
