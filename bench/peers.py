"""The peers that are measured beside us: programs in C, compiled on demand, and asyncvnc."""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, Final

SOURCES: Final = Path(__file__).with_name("peers")

# By program: what it is linked with, and the Debian packages that have what it is compiled of.
LIBRARIES: Final = {"turbo": "jpeg", "libvnc": "vncclient"}
PACKAGES: Final = {"turbo": "gcc libc6-dev libjpeg62-turbo-dev", "libvnc": "gcc libc6-dev libvncserver-dev"}

# Some seconds each, on any machine.
COMPILE_S: Final = 60.0

_folder: Final = tempfile.TemporaryDirectory(prefix="bench-peers-")


@cache
def peer(name: str) -> Path | None:
    """The program; None where it can't be compiled, and a line that says what to install. Its figures are left out."""
    program = Path(_folder.name) / name
    command = ["gcc", "-std=gnu11", "-O3", "-o", str(program), str(SOURCES / f"{name}.c"), f"-l{LIBRARIES[name]}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_S, check=False)
        failure = done.stderr.splitlines()[0] if done.returncode else ""
    except FileNotFoundError as error:
        failure = str(error)
    if not failure:
        return program
    print(f"peers/{name}.c is left out ({failure}); install: apt-get install {PACKAGES[name]}", file=sys.stderr)
    return None


@cache
def asyncvnc() -> Any:
    """The module, which has no types; None, and a line that says what to install, where it isn't there."""
    try:
        return importlib.import_module("asyncvnc")
    except ImportError as error:
        print(f"asyncvnc is left out ({error}); install: pip install asyncvnc", file=sys.stderr)
        return None
