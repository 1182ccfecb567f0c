"""Measurements, and how their figures become one table and one JSON file."""

from __future__ import annotations

import json
import os
import platform
import re
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

# What one run of a measurement found, by key.
Figures = dict[str, float]

# The key of what a virtual machine's neighbours took during a run, in per cent of all processors' time.
STOLEN: Final = "stolen_percent"

PACKAGES: Final = (
    *("pluriverse", "pluriverse-server"),
    *("aiohttp", "ale-py", "asyncvnc", "envpool", "gymnasium", "miniwob", "numpy", "openenv"),
    *("pygame-ce", "simplejpeg", "websockets"),
)


@dataclass(frozen=True, slots=True)
class Effort:
    """The effort of a measurement."""

    quick: bool

    def of(self, full: int, quick: int) -> int:
        """One of two amounts: seconds, or how many times."""
        return quick if self.quick else full


@dataclass(frozen=True, slots=True)
class Target:
    """A figure is good from ``low`` to ``high``, both included; ``of_plain``: times the plain alternative's."""

    high: float = float("inf")
    low: float = float("-inf")
    of_plain: bool = False

    def met_by(self, value: float, plain: float | None = None) -> bool | None:
        """Return whether ``value`` meets the target; None if there is nothing to compare it with."""
        if self.of_plain:
            return self.low <= value / plain <= self.high if plain else None
        return self.low <= value <= self.high

    def with_unit(self, unit: str) -> str:
        """Return the target with its unit."""
        return f"{self} times the plain way" if self.of_plain else f"{self} {unit}"

    def __str__(self) -> str:
        if self.low == float("-inf"):
            return f"≤ {self.high:g}"
        if self.high == float("inf"):
            return f"≥ {self.low:g}"
        middle, reach = (self.high + self.low) / 2, (self.high - self.low) / 2
        return f"{middle:g} ± {reach:g}"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table: the key of our figure, and of the plain alternative's if there is one."""

    title: str
    unit: str
    ours: str
    target: Target | None = None
    plain: str | None = None
    plain_title: str = ""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Something that is measured: ``run`` takes one run's figures, ``lines`` show their medians."""

    name: str
    lines: Sequence[Line]
    run: Callable[[Effort], Figures]


def percentile(values: Sequence[float], percent: float) -> float:
    """The ``percent``-th percentile of some values, interpolated."""
    return float(np.percentile(values, percent))


def medians(runs: Sequence[Figures]) -> Figures:
    """The median of each figure over the runs that have it."""
    keys = dict.fromkeys(key for figures in runs for key in figures)
    return {key: statistics.median(figures[key] for figures in runs if key in figures) for key in keys}


def processor_ticks() -> list[int]:
    """Return the times of all processors together, in the order of ``/proc/stat``."""
    with Path("/proc/stat").open() as file:
        return [int(word) for word in file.readline().split()[1:]]


def stolen_percent(before: Sequence[int], after: Sequence[int]) -> float:
    """Return the share of time that the hypervisor gave to others while a process here was ready to run."""
    spent = [later - earlier for earlier, later in zip(before, after, strict=True)]
    return 100 * spent[7] / max(1, sum(spent[:8]))


def table(measurements: Sequence[Measurement], figures: Mapping[str, Figures]) -> Table:
    """The medians beside their targets and the plain alternatives. ``figures`` are by the measurement's name."""
    shown = Table(title="medians; ✗ is beside a missed target, ratio is ours to the plain alternative")
    shown.add_column("measurement", overflow="fold")
    for column in ("ours", "target"):
        shown.add_column(column, justify="right", no_wrap=True)
    shown.add_column("plain alternative", overflow="fold")
    shown.add_column("ratio", justify="right", no_wrap=True)
    for measurement in measurements:
        for line in measurement.lines:
            shown.add_row(*_cells(line, figures.get(measurement.name, {})))
        shown.add_section()
    return shown


def write_json(
    path: Path, measurements: Sequence[Measurement], runs: Mapping[str, Sequence[Figures]], effort: Effort
) -> None:
    """Write the lines of ``runs`` with their medians and the figure of each run, and what each was measured on.

    Of the other ``measurements`` the lines stay that the file has.
    """
    before: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"lines": [], "machines": {}}
    kept = [line for line in before["lines"] if line["measurement"] not in runs]
    document = {
        "measured_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "quick": effort.quick,
        "machines": {**before["machines"], **dict.fromkeys(runs, describe_machine())},
        "lines": [
            line
            for measurement in measurements
            for line in (
                [_record(measurement.name, line, runs[measurement.name]) for line in measurement.lines]
                if measurement.name in runs
                else [line for line in kept if line["measurement"] == measurement.name]
            )
        ],
    }
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def describe_machine() -> dict[str, Any]:
    """Processor, memory, system and versions; nothing that names the machine or its owner."""
    cpuinfo = Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*: (.+)$", cpuinfo, re.MULTILINE)
    return {
        "cpu": model[1] if model else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "load_1min": round(os.getloadavg()[0], 2),
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", platform.system()),
        "python": platform.python_version(),
        "tigervnc": _printed_version(["Xtigervnc", "-version"], r"Xvnc TigerVNC ([\d.]+)"),
        "packages": {name: version(name) for name in PACKAGES},
    }


def print_table(measurements: Sequence[Measurement], figures: Mapping[str, Figures]) -> None:
    """Print the table on standard output, as wide as it needs where that is no terminal."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=140)
    console.print(table(measurements, figures))


def _cells(line: Line, figures: Figures) -> tuple[str, ...]:
    ours, plain = figures.get(line.ours), figures.get(line.plain or "")
    target = line.target.with_unit(line.unit) if line.target else ""
    if ours is None:
        return line.title, "not measured", target, "", ""
    mark = " ✗" if line.target is not None and line.target.met_by(ours, plain) is False else ""
    alternative = "" if plain is None else f"{_number(plain)} {line.unit}, {line.plain_title}"
    ratio = f"{ours / plain:.2f}" if plain else ""
    return line.title, f"{_number(ours)} {line.unit}{mark}", target, alternative, ratio


def _record(name: str, line: Line, runs: Sequence[Figures]) -> dict[str, Any]:
    figures = medians(runs)
    ours, plain = figures.get(line.ours), figures.get(line.plain or "")
    return {
        "measurement": name,
        "title": line.title,
        "unit": line.unit,
        "ours": _rounded(ours),
        "runs": [_rounded(run.get(line.ours)) for run in runs],
        "stolen_percent": [_rounded(run.get(STOLEN)) for run in runs],
        "target": str(line.target) if line.target else None,
        "target_of_plain": line.target.of_plain if line.target else None,
        "met": line.target.met_by(ours, plain) if line.target and ours is not None else None,
        "plain": _rounded(plain),
        "plain_title": line.plain_title or None,
    }


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _printed_version(command: list[str], pattern: str) -> str:
    printed = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(pattern, printed.stdout + printed.stderr)
    return found[1] if found else "unknown"
