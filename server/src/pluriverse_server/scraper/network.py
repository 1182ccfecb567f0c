"""What programs have for a network where they have none (native/network), and what they were refused."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

LIBRARY: Final = Path(__file__).with_name("preloaded_network.so")

# XDG_RUNTIME_DIR below HOME, and in it the last thing that the program was refused.
_FOLDER: Final = ".run"
_NOTE: Final = "refused"

# The program may have written it.
_MOST_CHARS: Final = 300


def no_bus(home: Path) -> dict[str, str]:
    """Return where a program with this HOME looks for a session bus, and finds none: it is not to start its own."""
    return {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={home / _FOLDER}/bus"}


def refused(home: Path) -> str:
    """Return what the program with this HOME was refused last, to be put after how it ended; mostly nothing."""
    with contextlib.suppress(OSError), (home / _FOLDER / _NOTE).open(errors="replace") as note:
        return f"; {note.read(_MOST_CHARS)}"
    return ""
