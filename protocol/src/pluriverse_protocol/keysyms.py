"""X's names of its keysyms. ``tools/keysyms.py`` takes the table beside this from X's headers."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib.resources import files


@functools.cache
def keysyms() -> Mapping[str, int]:
    """Return the keysym of each name, such as ``EuroSign``, ``dead_acute`` and ``XF86AudioPlay``. Case counts.

    Of several names for a keysym the usual one comes first.
    """
    lines = files("pluriverse_protocol").joinpath("keysyms.txt").read_text().splitlines()
    rows = [(int(number, 16), names) for number, *names in map(str.split, lines)]
    return {name: number for number, names in rows for name in names}


@functools.cache
def keysym_names() -> Mapping[int, str]:
    return {number: name for name, number in reversed(list(keysyms().items()))}
