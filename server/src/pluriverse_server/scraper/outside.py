"""What programs have of their own in the place of what is outside (native/outside), and what they were refused."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import Final

LIBRARY: Final = Path(__file__).with_name("preloaded_outside.so")

# XDG_RUNTIME_DIR below HOME, and in it the copy of the machine's games' files, and the last thing that was refused.
_FOLDER: Final = ".run"
_OWN_GAMES: Final = "games"
_NOTE: Final = "refused"

_GAMES: Final = Path("/var/games")

# The program may have written it.
_MOST_CHARS: Final = 300


def copy_games(home: Path) -> None:
    """Copy the machine's scores and saves, as far as they can be read, for the program with this HOME."""
    own = home / _FOLDER / _OWN_GAMES
    own.mkdir()
    with contextlib.suppress(OSError):
        shutil.copytree(_GAMES, own, symlinks=True, dirs_exist_ok=True)


def no_bus(home: Path) -> dict[str, str]:
    """Return where a program with this HOME looks for a session bus, and finds none: it is not to start its own."""
    return {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={home / _FOLDER}/bus"}


def refused(home: Path) -> str:
    """Return what the program with this HOME was refused last, to be put after how it ended; mostly nothing."""
    with contextlib.suppress(OSError), (home / _FOLDER / _NOTE).open(errors="replace") as note:
        return f"; {note.read(_MOST_CHARS)}"
    return ""
