"""The private HOME of one run of a program, and the environment that goes with it."""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# Where programs look for their settings, saves and caches; all of it goes with the home.
_BELOW_HOME: Final = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
    "XDG_RUNTIME_DIR": ".run",
    "TMPDIR": ".tmp",
}

PASSING: Final = frozenset(_BELOW_HOME[name] for name in ("XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "TMPDIR"))
"""The folders of a home for what nobody misses once the program has ended."""

# A home's other name, the same each time: of a program whose memory is to be the same, since order in hash tables of
# Perl's follows from it.
_HELD_AS: Final = 9
HELD_HOME: Final = Path(f"/proc/self/fd/{_HELD_AS}")

# A kept moment has all of a home, which most programs write some settings to.
MAX_KEPT_BYTES: Final = 64 * 1024 * 1024

# Two writes within a tick of the file system's clock leave the same time: see sources/program/file.py.
FRESH_NS: Final = 100_000_000


class HomeError(Exception):
    """A home can't be made, or a file not be put into it; the message gives the reason."""


def make_home(home: Path, template: Path | None) -> None:
    """Make a new folder ``home``, a copy of ``template`` if there is one. Blocks while it copies."""
    try:
        if template is not None:
            shutil.copytree(template, home, symlinks=True)
        make_folders(home)
    except (OSError, shutil.Error) as error:
        how = "made" if template is None else f"copied from program.home, {template}"
        raise HomeError(f"HOME could not be {how}: {error}") from error


def make_folders(home: Path) -> None:
    """Make the folders in ``home`` in which programs look for what is theirs. Raises OSError."""
    for name in _BELOW_HOME.values():
        (home / name).mkdir(mode=0o700, parents=True, exist_ok=True)


def home_environment(home: Path, screen: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Return what a program's environment has more: its ``home``, its ``screen``, and its ``own`` of the manifest."""
    below = {name: str(home / folder) for name, folder in _BELOW_HOME.items()}
    return {"HOME": str(home), **below, **screen, **own}


def hold_home(home: Path, command: Sequence[str]) -> list[str]:
    """Return ``command`` so that it, and what it starts, knows ``home`` as ``HELD_HOME``, too."""
    return ["sh", "-c", f'exec {_HELD_AS}<"$0"; exec "$@"', str(home), *command]


@dataclass(frozen=True, slots=True)
class Entry:
    """A folder, a link or a file below a home: its content, and by what it is known to be unchanged."""

    mode: int
    content: bytes
    times: tuple[int, int]
    known_by: tuple[int, ...] | None

    @property
    def size(self) -> int:
        return len(self.content)


Contents = Mapping[str, Entry]
"""What is below a home, by paths relative to it; folders before what is in them."""


def contents(home: Path, before: Contents) -> Contents:
    """Return what is below ``home``; what is as ``before`` isn't read again. Raise HomeError if it is too much."""
    found: dict[str, Entry] = {}
    read = 0
    for path, status in _below(home):
        known_by = _known_by(status)
        entry = before.get(path)
        if entry is None or entry.known_by != known_by:
            if stat.S_ISREG(status.st_mode) and read + status.st_size > MAX_KEPT_BYTES:
                raise HomeError(f"HOME has more than {MAX_KEPT_BYTES} bytes, too many to be kept")
            content = _content(home / path, status)
            fresh = time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) < FRESH_NS
            entry = Entry(
                status.st_mode, content, (status.st_atime_ns, status.st_mtime_ns), None if fresh else known_by
            )
        found[path] = entry
        read += entry.size
    return found


def put_back(home: Path, kept: Contents) -> None:
    """Have ``home`` be as it was kept. Files stay the same ones where they are still there."""
    try:
        there = dict(_below(home))
        for path, status in reversed(list(there.items())):
            if path not in kept or stat.S_IFMT(kept[path].mode) != stat.S_IFMT(status.st_mode):
                _remove(home / path, status)
                del there[path]
        for path, entry in kept.items():
            status = there.get(path)
            if status is None or _known_by(status) != entry.known_by:
                _put(home / path, entry, is_there=status is not None)
    except OSError as error:
        raise HomeError(f"HOME can't be put back: {error}") from error


def _below(home: Path, folder: str = "") -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(home / folder) as entries:
        for entry in sorted(entries, key=lambda each: each.name):
            path, status = folder + entry.name, entry.stat(follow_symlinks=False)
            yield path, status
            if stat.S_ISDIR(status.st_mode):
                yield from _below(home, f"{path}/")


def _known_by(status: os.stat_result) -> tuple[int, ...]:
    # A folder changes with what is in it, which is looked at by itself.
    if stat.S_ISDIR(status.st_mode):
        return status.st_mode, status.st_ino
    return status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _content(path: Path, status: os.stat_result) -> bytes:
    if stat.S_ISLNK(status.st_mode):
        return os.fsencode(path.readlink())
    return path.read_bytes() if stat.S_ISREG(status.st_mode) else b""


def _remove(path: Path, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        path.rmdir()
    else:
        path.unlink()


def _put(path: Path, entry: Entry, *, is_there: bool) -> None:
    if stat.S_ISDIR(entry.mode):
        if not is_there:
            path.mkdir()
        path.chmod(stat.S_IMODE(entry.mode))
    elif stat.S_ISLNK(entry.mode):
        if is_there:
            path.unlink()
        path.symlink_to(os.fsdecode(entry.content))
    elif stat.S_ISREG(entry.mode):
        if is_there:
            path.chmod(0o600)
        # Never without what is in it: templates may have it in their memory.
        with path.open("r+b" if is_there else "wb") as file:
            file.write(entry.content)
            file.truncate()
        path.chmod(stat.S_IMODE(entry.mode))
        os.utime(path, ns=entry.times)


def restore(source: Path, home: Path, to: str) -> None:
    """Copy the file ``source`` to ``to`` below ``home``, atomically: the program sees the old one or the new."""
    target = home / to
    try:
        # The program may have made links of its folders meanwhile.
        if not target.parent.resolve().is_relative_to(home.resolve()):
            raise HomeError(f"restore: {to} is not below HOME")
        target.parent.mkdir(parents=True, exist_ok=True)
        new = target.with_name(f".{target.name}.new")
        shutil.copyfile(source, new)
        new.replace(target)
    except OSError as error:
        raise HomeError(f"restore: {source} could not be put to {to} below HOME: {error}") from error
