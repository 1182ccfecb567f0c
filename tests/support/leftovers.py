"""What a test left behind: processes, and private folders."""

import tempfile
import time
from pathlib import Path

import psutil


class Leftovers:
    """Remembers what there was when it was made."""

    def __init__(self) -> None:
        self._before = self._own()

    def assert_none(self, within_s: float = 0.0) -> None:
        """Fail with what there is now, or still after ``within_s`` seconds, and wasn't then."""
        deadline = time.monotonic() + within_s
        while left := self._own() - self._before:
            assert time.monotonic() < deadline, f"left behind: {sorted(left)}"
            time.sleep(0.01)

    @staticmethod
    def descendants() -> list[tuple[int, str]]:
        """The living processes that this one started, directly or not: id and program."""
        found: list[tuple[int, str]] = []
        for child in psutil.Process().children(recursive=True):
            try:
                if child.status() != psutil.STATUS_ZOMBIE:
                    found.append((child.pid, child.name()))
            except psutil.NoSuchProcess:
                continue
        return found

    @classmethod
    def _own(cls) -> set[str]:
        return {f"process {pid} {name}" for pid, name in cls.descendants()} | cls._folders()

    @staticmethod
    def _folders() -> set[str]:
        """The private folders of remotes that aren't there any more."""
        folders = Path(tempfile.gettempdir()).glob("pluriverse-*-*")
        owners = {path: path.name.split("-")[1] for path in folders}
        return {str(path) for path, pid in owners.items() if pid.isdigit() and not psutil.pid_exists(int(pid))}
