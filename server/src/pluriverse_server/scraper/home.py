"""The private HOME of one run of a program, and the environment that goes with it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
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

# A home's other name, the same each time: of a program whose memory is to be the same, since order in hash tables of
# Perl's follows from it.
_HELD_AS: Final = 9
HELD_HOME: Final = Path(f"/proc/self/fd/{_HELD_AS}")


class HomeError(Exception):
    """A home can't be made, or a file not be put into it; the message gives the reason."""


def make_home(home: Path, template: Path | None) -> None:
    """Make a new folder ``home``, a copy of ``template`` if there is one. Blocks while it copies."""
    try:
        if template is not None:
            shutil.copytree(template, home, symlinks=True)
        for name in _BELOW_HOME.values():
            (home / name).mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, shutil.Error) as error:
        how = "made" if template is None else f"copied from program.home, {template}"
        raise HomeError(f"HOME could not be {how}: {error}") from error


def home_environment(home: Path, screen: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Return what a program's environment has more: its ``home``, its ``screen``, and its ``own`` of the manifest."""
    below = {name: str(home / folder) for name, folder in _BELOW_HOME.items()}
    return {"HOME": str(home), **below, **screen, **own}


def hold_home(home: Path, command: Sequence[str]) -> list[str]:
    """Return ``command`` so that it, and what it starts, knows ``home`` as ``HELD_HOME``, too."""
    return ["sh", "-c", f'exec {_HELD_AS}<"$0"; exec "$@"', str(home), *command]


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
