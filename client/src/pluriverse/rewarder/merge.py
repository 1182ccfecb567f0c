"""Merges infos of several moments into one: counts add up, everything else is replaced. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

COUNTS: Final = "stats."
GAUGES: Final = "stats.gauges."

# Agents know some dozens of keys; a server that invents new ones costs no more memory than this.
MAX_INFO_KEYS: Final = 1024


# What the client says itself, and no remote can say in its place.
OWN_KEYS: Final = frozenset({"error", "n", "peek", "terminated", "truncated"})
OWN_PREFIXES: Final = (
    "diagnostics.",
    "env_status.",
    "mask.",
    "reward_buffer.",
    "stats.gauges.diagnostics.",
    "stats.reward.",
    "stats.vnc.",
)


def reported(info: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a remote may say in the ``info`` of a reward: all but the client's own keys."""
    if any(_is_own(key) for key in info):
        return {key: value for key, value in info.items() if not _is_own(key)}
    return info


def _is_own(key: str) -> bool:
    return key in OWN_KEYS or key.startswith(OWN_PREFIXES)


def merge_info(into: dict[str, Any], later: Mapping[str, Any]) -> None:
    """Merge ``later`` into ``into``: numbers under ``stats.`` add up, but ``stats.gauges.`` and others are replaced."""
    for key, value in later.items():
        if key not in into and len(into) >= MAX_INFO_KEYS:
            continue
        if key.startswith(COUNTS) and not key.startswith(GAUGES) and _is_number(value) and _is_number(into.get(key)):
            into[key] += value
        else:
            into[key] = value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
