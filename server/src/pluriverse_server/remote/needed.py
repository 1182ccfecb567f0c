"""What a runtime needs of its machine: a screen's programs, and what its debian.txt and requirements.txt list."""

from __future__ import annotations

import importlib.metadata
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from pluriverse_protocol import child_process

from pluriverse_server.display.screen import PROGRAMS, Backend
from pluriverse_server.manifest.runtime import Manifest
from pluriverse_server.process import StartError


def require_installed(folder: Path, manifest: Manifest, env_id: str, display: Backend) -> None:
    """Raise ``StartError`` with the command that installs all that is missing for an environment on this machine."""
    needed = {**PROGRAMS[display], child_process.SETPRIV: child_process.SETPRIV_PACKAGE}
    needed |= _of_environment(dict(_debian(folder)), manifest, env_id)
    missing = [program for program in needed if shutil.which(program) is None and not Path(program).is_file()]
    requirements = {name: line for name, line in _python(folder) if not _is_installed(name)}
    commands = [
        *([f"apt-get install {' '.join(sorted({needed[program] for program in missing}))}"] if missing else []),
        *([f"pip install {shlex.join(requirements.values())}"] if requirements else []),
    ]
    if commands:
        names = ", ".join([*(Path(program).name for program in missing), *requirements])
        raise StartError(
            f"{manifest.runtime.id} needs what isn't installed here ({names}); install it with: {' && '.join(commands)}"
        )


def _debian(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield programs and files with their packages, without those that only making the runtime needs."""
    for line in _lines(folder / "debian.txt"):
        program, _, package = line.partition(":")
        if package and not package.endswith(" build"):
            yield program, package


def _of_environment(needed: Mapping[str, str], manifest: Manifest, env_id: str) -> dict[str, str]:
    """Return what is needed without that which the commands of other games name, and this one's doesn't."""

    def names(commands: str, program: str, package: str) -> bool:
        return Path(program).name in commands or package in commands

    commands = {id(game): " ".join(game.program.command) for game in manifest.all_games if game.program is not None}
    own = commands.get(id(manifest.game(env_id)), "")
    every = " ".join(commands.values())
    return {
        program: package
        for program, package in needed.items()
        if names(own, program, package) or not names(every, program, package)
    }


def _python(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the names of Python packages with the lines that ask for them; what is for some machines only is not."""
    for line in _lines(folder / "requirements.txt"):
        if (name := re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", line)) and ";" not in line:
            yield name[0], line


def _is_installed(package: str) -> bool:
    try:
        return bool(importlib.metadata.version(package))
    except importlib.metadata.PackageNotFoundError:
        return False


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    return [line for each in text.splitlines() if (line := each.partition("#")[0].strip())]
