"""The ids of the environments that come with pluriverse, without asking any runtime for them."""

from __future__ import annotations

from pathlib import Path

# What `pluriverse envs` prints where all our runtimes are; a test compares. Asking them takes a second and more, and
# needs the runtimes, which an agent's machine hasn't got.
_LIST = Path(__file__).with_name("listed.txt")


def listed() -> list[str]:
    """All ids, sorted; a machine may have runtimes with others, which ``pluriverse.catalogue`` asks."""
    return _LIST.read_text().split()
