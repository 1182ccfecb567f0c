"""The sound card of programs: a plug-in of ALSA's, which SDL and OpenAL play to as well. It is in the clock's library.

What plays by that clock is heard with its steps; all else in real time, in a file that programs write to.
"""

from __future__ import annotations

import mmap
import time
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.sound import CHANNELS, RATE

from pluriverse_server.lockstep.clock import LIBRARY, NS

_FILE_VARIABLE: Final = "PLURIVERSE_SOUND"

# As native/lockstep/page.h has it: two 32-bit integers a frame, of which programs have at most half written ahead.
_RING: Final = 16384
_RING_BYTES: Final = _RING * CHANNELS * 4

# What is played from now on, a program may still be writing.
_LATE_FRAMES: Final = RATE // 100

# One way to other rates, whichever ALSA could take on this machine: samples are to be the same on all.
_CONFIGURATION: Final = """\
pcm_type.pluriverse.lib "{library}"
pcm.default {{
    type plug
    slave.pcm {{ type pluriverse }}
    rate_converter "linear"
}}
"""

# Without the card, of which many programs end or spin: these drivers play to nobody, in the program's time.
_SILENT: Final = {"SDL_AUDIODRIVER": "dummy", "SDL_AUDIO_DRIVER": "dummy", "ALSOFT_DRIVERS": "null"}
_ALSA: Final = {"SDL_AUDIODRIVER": "alsa", "SDL_AUDIO_DRIVER": "alsa", "ALSOFT_DRIVERS": "alsa"}


class Card:
    """The sound card of one program. ``environment`` is what the program's has for it."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is the program's, for the card's files."""
        self.environment = _SILENT
        self._ring = np.zeros((_RING, CHANNELS), np.int32)
        self._at = _position()
        if LIBRARY.exists():
            path, configuration = folder / "card", folder / "alsa.conf"
            with path.open("w+b") as file:
                file.truncate(_RING_BYTES)
                self._ring = np.frombuffer(mmap.mmap(file.fileno(), _RING_BYTES), np.int32).reshape(_RING, CHANNELS)
            configuration.write_text(_CONFIGURATION.format(library=LIBRARY))
            self.environment = {**_ALSA, "ALSA_CONFIG_PATH": str(configuration), _FILE_VARIABLE: str(path)}

    def clear(self) -> None:
        """Take away what nobody heard."""
        self._ring[:] = 0

    def take(self) -> NDArray[np.int16]:
        """Return what was played in real time since the last call, of half the ring at most: shape (frames, 2)."""
        end = _position()
        due = np.arange(max(self._at, end - _RING // 2), end) % _RING
        sound = self._ring[due].clip(-(2**15), 2**15 - 1).astype(np.int16)
        self._ring[due] = 0
        self._at = end
        return sound


def _position() -> int:
    return time.monotonic_ns() * RATE // NS - _LATE_FRAMES
