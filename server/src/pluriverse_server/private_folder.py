"""Folders of temporary files of one process, which the next one removes if that process is killed.

A lock on a file in it tells whether the owner lives: unlike its process id, that means the same to all who share the
place, whatever container they are in.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

PREFIX: Final = "pluriverse"

LOCK: Final = "lock"


class PrivateFolder:
    """A folder ``path`` that only this user may look into, until ``remove``."""

    def __init__(self) -> None:
        """Make it; raise OSError if there is no place for it."""
        self.path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}-{os.getpid()}-"))
        try:
            # Nobody may find the file before it is locked.
            new = self.path / f"{LOCK}.new"
            self._lock = os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            new.rename(self.path / LOCK)
        except BaseException:
            shutil.rmtree(self.path, ignore_errors=True)
            raise

    def remove(self) -> None:
        """Remove it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def sweep() -> None:
    """Remove the folders of this user's processes that have ended without doing so."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}-*-*"):
        if _is_abandoned(path):
            shutil.rmtree(path, ignore_errors=True)


def _is_abandoned(path: Path) -> bool:
    try:
        if path.lstat().st_uid != os.geteuid() or path.is_symlink():
            return False
        lock = os.open(path / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        # Of something else, or just being made or removed.
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True
