"""Every limit on what a peer may send, by name, each with the reason for its number."""

from __future__ import annotations

from typing import Final

# An action of a whole keyboard going down and up, with a pointer path of some hundred points, is under 16 KiB.
MAX_MESSAGE_BYTES: Final = 64 * 1024

# One action is what an agent does between two frames. A thousand events is a second of a 1000 Hz mouse.
MAX_EVENTS_PER_ACTION: Final = 1024

# Identifiers are shown on one line and kept in memory for each message.
MAX_ENV_ID_CHARS: Final = 256
MAX_MESSAGE_ID_CHARS: Final = 256

# JSON integers beyond 2**53 don't survive every peer's parser; an episode a millisecond lasts 285,000 years.
MAX_EPISODE_ID: Final = 2**53

# NumPy and ALE take 32-bit seeds; a peer may send what fits Gymnasium's 64 bits.
MAX_SEED: Final = 2**63 - 1

# Above any screen's refresh rate; an emulator can't be paced more finely by the operating system's clock.
MAX_FPS: Final = 1000.0

# Screens of RFB are at most 65535 pixels each way.
MAX_COORDINATE: Final = 65535

# X keysyms are 29 bits.
MAX_KEYSYM: Final = 0x1FFFFFFF

# A report of a program: a structured observation may carry some thousand numbers.
MAX_REPORT_BYTES: Final = 1024 * 1024
