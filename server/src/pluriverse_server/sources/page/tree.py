"""The script that reads a page's tree, and the parser of its answer. Pure."""

from __future__ import annotations

import json
from importlib import resources
from typing import Final

from pluriverse_protocol.limits import MAX_LABEL_CHARS

from pluriverse_server.sources.trees import Found

# Frames of pages are advertisements, or one game.
MAX_FRAMES: Final = 16

# Before lines and spaces are joined, which leaves less of a text.
_MAX_CHARS: Final = 4 * MAX_LABEL_CHARS

_FOLDER: Final = resources.files("pluriverse_server.sources.page")
_PACKAGE: Final = "vendor/dom-accessibility-api.js"

# Asks what has been installed in a page; undefined in one where nothing has.
ASK: Final = "globalThis.tree?.()"


def installer() -> str:
    """Return what installs what ``ASK`` asks, and asks it. Raises FileNotFoundError: its package wasn't fetched."""
    package, walker = (_FOLDER.joinpath(name).read_text(encoding="utf-8").strip() for name in (_PACKAGE, "tree.js"))
    options = json.dumps({"maxFrames": MAX_FRAMES, "maxChars": _MAX_CHARS})
    return f"globalThis.tree = ({walker.rstrip(';')})({package}, {options}); {ASK}"


def read(said: str) -> list[Found]:
    """Return what ``ASK`` was answered, depth first."""
    return [Found(parent, role, name, value, tuple(box)) for parent, role, name, value, *box in json.loads(said)]
