"""Writes a runtime that runs as it is: a tiny game that reports nothing and is read from the screen."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from pluriverse_authoring import AuthoringError

TEMPLATES: Final = Path(__file__).parent / "templates"

# What runtime.id may be.
NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")

# Stands for the dot of a hidden file: .gitignore among the templates would hold for them.
_DOT: Final = "dot-"

# The placeholders in the templates: for the name, and for the package as which it is installed.
_NAME: Final = "@NAME@"
_PACKAGE: Final = "@PACKAGE@"


def init(name: str, directory: Path) -> list[Path]:
    """Write the runtime ``name`` into ``directory``, which is made if need be; return its files."""
    if not NAME.fullmatch(name):
        raise AuthoringError(
            f"{name!r} isn't a name for a runtime; expected lower-case letters, digits and dashes, such as my-game"
        )
    try:
        if directory.exists() and any(directory.iterdir()):
            raise AuthoringError(f"{directory} is not empty; name another folder with --directory")
        # Installers may have compiled the templates.
        templates = [path for path in TEMPLATES.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        return [_write(template, name, directory) for template in sorted(templates)]
    except OSError as error:
        raise AuthoringError(f"{error.filename or directory} can't be written: {error.strerror}") from error


def _write(template: Path, name: str, directory: Path) -> Path:
    parts = template.relative_to(TEMPLATES).parts
    target = directory.joinpath(*("." + part[len(_DOT) :] if part.startswith(_DOT) else part for part in parts))
    target.parent.mkdir(parents=True, exist_ok=True)
    package = f"pluriverse_runtime_{name.replace('-', '_')}"
    written = template.read_bytes().replace(_NAME.encode(), name.encode()).replace(_PACKAGE.encode(), package.encode())
    target.write_bytes(written)
    return target
