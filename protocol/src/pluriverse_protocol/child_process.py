"""How child processes are wrapped, which environment they get, and how their ends are described. Pure."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from typing import Final

SETPRIV: Final = "setpriv"
SETPRIV_PACKAGE: Final = "util-linux"

# These describe the terminal or desktop that started us; curses, for one, believes COLUMNS rather than its own
# terminal.
_SESSION_VARIABLES: Final = frozenset(
    {
        "COLUMNS",
        "DBUS_SESSION_BUS_ADDRESS",
        "LINES",
        "SDL_VIDEODRIVER",
        "SESSION_MANAGER",
        "WAYLAND_DISPLAY",
        "WINDOWID",
        "XDG_SESSION_ID",
    }
)


def dying_with_parent(command: Sequence[str], signum: signal.Signals, setpriv: str = SETPRIV) -> list[str]:
    """Return ``command`` wrapped so that the kernel sends it ``signum`` when the thread that forked it ends.

    setpriv sets that between fork and exec, which Python can't do safely itself.
    """
    return [setpriv, "--pdeathsig", signum.name.removeprefix("SIG"), "--", *command]


def child_environment(inherited: Mapping[str, str], extra: Mapping[str, str]) -> dict[str, str]:
    """Return ``inherited`` with ``extra``, without our own settings (the password!) and those of a desktop session."""
    kept = (name for name in inherited if not name.startswith("PLURIVERSE_") and name not in _SESSION_VARIABLES)
    return {name: inherited[name] for name in kept} | dict(extra)


def describe_exit(returncode: int) -> str:
    """Return ``exit status 3`` or, for a negative code as ``subprocess`` has it, ``killed by SIGKILL``."""
    if returncode >= 0:
        return f"exit status {returncode}"
    # Most real-time signals have no name.
    known = -returncode in signal.Signals.__members__.values()
    return f"killed by {signal.Signals(-returncode).name if known else f'signal {-returncode}'}"
