"""Gives what a remote starts a user of its own, where the daemon may and that user can reach what it needs."""

from __future__ import annotations

import logging
import os
import stat
import sys
from pathlib import Path
from typing import Final

log = logging.getLogger(__name__)

# An unused user and group: above those of adduser, below the 65,536 of a container. Images name it.
CHILD_USER: Final = 59000

# The capabilities to become it, to send it signals, and to remove its files, from <linux/capability.h>.
CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_KILL, CAP_SETGID, CAP_SETUID = 1, 3, 5, 6, 7
NEEDED: Final = sum(1 << each for each in (CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_KILL, CAP_SETGID, CAP_SETUID))

# The runtime's folder is shared: files get its group, and only their owners may remove them.
SHARED_FOLDER: Final = 0o3770


def user_for_children(*folders: Path) -> int | None:
    """Return the user for children, or None if they must run as this process does; fixable problems are logged.

    ``folders`` are those that they need, beside the interpreter's.
    """
    if _capabilities() & NEEDED != NEEDED:
        return None
    needed = (Path(sys.executable).resolve(), Path(sys.prefix), *folders)
    closed = next((path for each in needed for path in (each, *each.parents) if not _is_open(path)), None)
    if closed is not None:
        log.info("programs run as this user, because others can't access %s; they still have no privileges", closed)
        return None
    return CHILD_USER


def let_in(user: int, folder: Path) -> None:
    """Let only the group of ``user`` into a private folder."""
    os.chown(folder, -1, user)
    folder.chmod(SHARED_FOLDER)


def _capabilities() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("CapEff:")[2].split(maxsplit=1)[0], 16)


def _is_open(path: Path) -> bool:
    """Return whether everybody may enter a folder, or execute a file."""
    return bool(path.stat().st_mode & stat.S_IXOTH)
