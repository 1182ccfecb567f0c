"""What a runtime needs of its machine: a screen's programs, and what its debian.txt and pyproject.toml list."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pluriverse_protocol import child_process

from pluriverse_server.display.screen import PROGRAMS, Backend
from pluriverse_server.manifest.runtime import Manifest, read_document
from pluriverse_server.process import StartError


@dataclass(frozen=True, slots=True)
class Missing:
    """What isn't installed: its ``names``, and the ``debian`` packages and ``python`` requirements that bring it."""

    names: tuple[str, ...]
    debian: tuple[str, ...]
    python: tuple[str, ...]

    def __str__(self) -> str:
        commands = [
            *([f"apt-get install {' '.join(self.debian)}"] if self.debian else []),
            *([f"pip install {shlex.join(self.python)}"] if self.python else []),
        ]
        return f"has missing dependencies ({', '.join(self.names)}); install it with: {' && '.join(commands)}"

    def install(self) -> None:
        """Install it, showing what the installers print; raise ``StartError`` if one fails."""
        if self.debian and os.geteuid() != 0:
            raise StartError(f"Debian packages need root: sudo apt-get install {' '.join(self.debian)}")
        apt_get = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qqy", "--no-install-recommends"]
        debian = [[*apt_get, "update"], [*apt_get, "install", *self.debian]] if self.debian else []
        python = [[sys.executable, "-m", "pip", "install", *self.python]] if self.python else []
        for command in (*debian, *python):
            if subprocess.run(command, check=False, stdout=sys.stderr).returncode != 0:
                raise StartError(f"{shlex.join(command)} failed; its output is above")


def missing(folder: Path, manifest: Manifest, display: Backend, env_id: str | None = None) -> Missing | None:
    """Return what an environment of a runtime, or each of them, lacks on this machine."""
    needed = {**PROGRAMS[display], child_process.SETPRIV: child_process.SETPRIV_PACKAGE}
    listed = dict(_debian(folder))
    needed |= listed if env_id is None else _of_environment(listed, manifest, env_id)
    programs = [program for program in needed if shutil.which(program) is None and not Path(program).is_file()]
    requirements = {name: line for name, line in _python(folder) if not _is_installed(name)}
    if not programs and not requirements:
        return None
    names = (*(Path(program).name for program in programs), *requirements)
    return Missing(names, tuple(sorted({needed[program] for program in programs})), tuple(requirements.values()))


def require_installed(folder: Path, manifest: Manifest, env_id: str, display: Backend) -> None:
    """Raise ``StartError`` with the command that installs all that is missing for an environment on this machine."""
    lacking = missing(folder, manifest, display, env_id)
    if lacking is not None:
        raise StartError(f"{manifest.runtime.id} {lacking}")


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
    """Yield the names of Python packages with the lines that ask for them; what is for some machines only is not.

    An installed runtime has no pyproject.toml: what it names was installed with it.
    """
    path = folder / "pyproject.toml"
    table: dict[str, Any] = read_document(path)[1] if path.is_file() else {}
    for line in table.get("project", {}).get("dependencies", ()):
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
