"""Folders of temporary files of one process, which the next one removes if that process is killed.

A lock on a file in it shows whether the owner lives: unlike its process id, that means the same to all who share the
place, whatever container they are in.

Paths of Unix sockets are limited, those of temporary files aren't: where a folder's is too long, it is used by a short
name, through a link in a second folder.
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
LINK: Final = "t"

# Paths of Unix sockets have at most 107 bytes, and the longest below are those of Chromium, which scrapers start.
MAX_PATH_BYTES: Final = 107 - len("/program/12345678/b/org.chromium.Chromium.123456/SingletonSocket")

# Where short names are made. X servers need this place too, regardless of TMPDIR.
SHORT: Final = Path("/tmp")  # noqa: S108 - see there


class PrivateFolder:
    """A folder ``path`` that only this user may look into, until ``remove``."""

    def __init__(self) -> None:
        self._locks: list[int] = []
        self.folders: list[Path] = []
        """What was made: the folder itself and, where its path is too long, the one in which a link has ``path``."""
        try:
            self.path = self._make(Path(tempfile.gettempdir()))
            if len(os.fsencode(self.path)) > MAX_PATH_BYTES:
                link = self._make(SHORT) / LINK
                link.symlink_to(self.path)
                self.path = link
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)
        for lock in self._locks:
            os.close(lock)

    def _make(self, place: Path) -> Path:
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}-{os.getpid()}-", dir=place))
        self.folders.append(folder)
        # The file must not be found before it is locked.
        new = folder / f"{LOCK}.new"
        lock = os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        self._locks.append(lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        new.rename(folder / LOCK)
        return folder


def sweep() -> None:
    """Remove the folders of this user's processes that have ended without doing so."""
    for place in (Path(tempfile.gettempdir()), SHORT):
        for path in place.glob(f"{PREFIX}-*-*"):
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
