"""Draws the floors of each distribution from the import contracts in pyproject.toml that CI checks."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parent.parent
SOURCES: Final = {
    "pluriverse": ROOT / "client/src/pluriverse",
    "pluriverse_server": ROOT / "server/src/pluriverse_server",
    "pluriverse_protocol": ROOT / "protocol/src/pluriverse_protocol",
}

BEGIN: Final = "<!-- begin floors -->\n"
END: Final = "<!-- end floors -->"


def contracts() -> dict[str, list[list[str]]]:
    """Return each distribution's floors, the top one first, each with the names of its rooms."""
    configuration: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = {
        contract["containers"][0]: contract["layers"]
        for contract in configuration["tool"]["importlinter"]["contracts"]
        if "containers" in contract
    }
    return {name: [re.split(r"\s*[|:]\s*", floor) for floor in layers[name]] for name in SOURCES}


def picture() -> str:
    """Draw the floors as text: imports go down only, and never sideways between ``|``."""
    lines = ["```text"]
    for package, floors in contracts().items():
        lines.append(package)
        lines += [f"  {len(floors) - index:2}  {' | '.join(rooms)}" for index, rooms in enumerate(floors)]
    return "\n".join([*lines, "```"]) + "\n"


def fill(document: str) -> str:
    """Return docs/architecture.md with its picture drawn anew."""
    if BEGIN not in document or END not in document:
        raise ValueError(f"docs/architecture.md has no part between {BEGIN.strip()} and {END}")
    return document[: document.index(BEGIN) + len(BEGIN)] + picture() + document[document.index(END) :]
