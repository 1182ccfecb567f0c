"""Writes a runtime that runs as it is: a tiny game that reports nothing, read from the screen as any program is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

TEMPLATES: Final = Path(__file__).parent / "templates"

# What runtime.id may be.
NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")

# Stands for the name in the templates; no other file of theirs has an @ on both sides of a word.
_PLACEHOLDER: Final = "@NAME@"


class InitError(Exception):
    """A folder that can't be written; the message says why, and what mends it."""


def init(name: str, directory: Path) -> list[Path]:
    """Write the runtime ``name`` into ``directory``, which is made if it isn't there; returns its files.

    Raises:
        InitError: the name is none for a runtime, or the folder can't be written or isn't empty.
    """
    if not NAME.fullmatch(name):
        raise InitError(
            f"{name!r} is no name for a runtime; expected lower-case letters, digits and dashes, as my-game"
        )
    try:
        if directory.exists() and any(directory.iterdir()):
            raise InitError(f"{directory} is not empty; name another folder with --directory")
        return [_write(template, name, directory) for template in sorted(TEMPLATES.rglob("*")) if _is_one(template)]
    except OSError as error:
        raise InitError(f"{error.filename or directory} can't be written: {error.strerror}") from error


def _is_one(template: Path) -> bool:
    # A package's Python files may have been compiled where it was installed.
    return template.is_file() and "__pycache__" not in template.parts


def _write(template: Path, name: str, directory: Path) -> Path:
    target = directory / template.relative_to(TEMPLATES)
    target.parent.mkdir(parents=True, exist_ok=True)
    if template.suffix == ".png":
        target.write_bytes(template.read_bytes())
    else:
        target.write_text(template.read_text(encoding="utf-8").replace(_PLACEHOLDER, name), encoding="utf-8")
    return target
