"""Writes the table of X's names of keysyms from X's own headers (Debian's x11proto-dev): tools/keysyms.py."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

HEADERS: Final = Path("/usr/include/X11")
# Those that Xlib's XStringToKeysym knows, in the order of its build.
NAMES: Final = ("keysymdef.h", "XF86keysym.h", "Sunkeysym.h", "DECkeysym.h", "HPkeysym.h")
TABLE: Final = Path(__file__).parent.parent / "protocol/src/pluriverse_protocol/keysyms.txt"

# XF86XK_AudioPlay is XF86AudioPlay. Keys of Linux are told by their number there: _EVDEVK(0x0a2).
_DEFINITION: Final = re.compile(r"#define\s+(\w*?)XK_(\w+)\s+(_EVDEVK\()?0x([0-9A-Fa-f]+)")
_LINUX: Final = 0x10081000


def table() -> str:
    """Return a line for each keysym: its number in hexadecimal, and its names."""
    names: dict[int, list[str]] = {}
    for header in NAMES:
        for prefix, name, linux, number in _DEFINITION.findall((HEADERS / header).read_text(errors="replace")):
            names.setdefault(int(number, 16) + (_LINUX if linux else 0), []).append(prefix + name)
    del names[0xFFFFFF]  # VoidSymbol: no key
    return "".join(f"{number:x} {' '.join(dict.fromkeys(names[number]))}\n" for number in sorted(names))


if __name__ == "__main__":
    TABLE.write_text(table())
