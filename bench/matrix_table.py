"""The table of docs/matrix.md: a row for each program that ``matrix.py`` has measured."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

PROGRAMS: Final = Path(__file__).parent / "matrix/programs"

HEADS: Final = (
    *("program", "of", "real time", "reacts", "exact frames", "pictures", "x real time", "still"),
    *("snapshot, restore", "sound", "pad", "why not"),
)
NUMBERS: Final = HEADS[4:9]
UNKNOWN: Final = "-"


@dataclass(frozen=True, slots=True)
class Row:
    """A program: its table ``[env]``, and what was found out about it."""

    about: dict[str, Any]
    found: dict[str, Any]

    @property
    def plays(self) -> bool:
        """Whether it plays in real time."""
        return self.found.get("starts", False) and self.found.get("plays", False)

    @property
    def is_exact(self) -> bool:
        """Whether all frames that were compared are the same, and more than a picture that stands."""
        return self.found.get("pictures", 0) > 1 and self.found.get("frames", -1) == self.found.get("exact")

    @property
    def is_kept(self) -> bool:
        """Whether its moments are kept, and what follows after going back is the same, and no picture that stands."""
        return self.found.get("pictures", 0) > 1 and self.found.get("restored") == 1

    def __str__(self) -> str:
        found = self.found
        why = (
            self.about.get("why")
            or found.get("error")
            or found.get("refused")
            or found.get("ended", "").partition(";")[0]
        )
        cells = (
            self.about["title"],
            self.about["engine"],
            _yes(self.plays),
            _yes(found.get("reacts_exactly") if self.is_exact else found.get("reacts")),
            f"{found['exact']:,} of {found['frames']:,}" if "frames" in found else UNKNOWN,
            f"{found['pictures']:,}" if "pictures" in found else UNKNOWN,
            f"{found['speed']:.3g}" if "speed" in found else UNKNOWN,
            f"{found['still']:.1f} %" if "still" in found else UNKNOWN,
            f"{found['snapshot']:.1f}, {found['restore']:.1f} ms" if self.is_kept else _yes(False),
            "differs" if found.get("sound") and not found["same_sound"] else _yes(found.get("sound")),
            "yes" if found.get("pad") else UNKNOWN,
            why,
        )
        return _line(cells)


def summary(results: dict[str, Any]) -> str:
    """Return how many programs play, are exact and can be kept."""
    rows = _rows(results)
    engines, plays = len({row.about["engine"] for row in rows}), sum(row.plays for row in rows)
    exact, kept = sum(row.is_exact for row in rows), sum(row.is_kept for row in rows)
    return (
        f"Of {len(rows)} programs of {engines} engines and toolkits, {plays} play in real time, "
        f"{exact} are exact in lockstep, and any moment of {kept} can be kept"
    )


def by_engine(results: dict[str, Any]) -> str:
    """Return a table of which engines and toolkits are exact: all, some or none of their programs."""
    engines: dict[str, list[bool]] = {}
    for row in _rows(results):
        engines.setdefault(row.about["engine"], []).append(row.is_exact)
    lines = [_line(("exact in lockstep", "engines and toolkits, with the number of programs")), _line(["---"] * 2)]
    for word, wanted in (("all", {True}), ("some", {True, False}), ("none", {False})):
        found = [
            f"{engine} ({f'{sum(each)} of ' if len(wanted) > 1 else ''}{len(each)})"
            for engine, each in engines.items()
            if {*each} == wanted
        ]
        lines.append(_line((word, "; ".join(found) or UNKNOWN)))
    return "\n".join(lines) + "\n"


def table(results: dict[str, Any]) -> str:
    """Return the summary, and the table of all programs, by engine."""
    rule = _line(["---:" if head in NUMBERS else "---" for head in HEADS])
    return "\n".join([f"{summary(results)}.", "", _line(HEADS), rule, *map(str, _rows(results))]) + "\n"


def _rows(results: dict[str, Any]) -> list[Row]:
    rows = [Row(tomllib.loads((PROGRAMS / f"{name}.toml").read_text())["env"], each) for name, each in results.items()]
    return sorted(rows, key=lambda row: (row.about["engine"], row.about["title"]))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _yes(value: bool | None) -> str:
    return {None: UNKNOWN, True: "yes", False: "no"}[value]
