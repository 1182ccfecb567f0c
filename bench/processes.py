"""Measures CPU time and memory of a remote's processes, by part."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import psutil

MIB: Final = 2**20

# How the servers call themselves.
SERVERS: Final = ("Xvfb", "X0tigervnc", "Xtigervnc")
DAEMON: Final = "daemon"
PROGRAM: Final = "program"

Parts = dict[str, psutil.Process]


def parts_of_remote(pid: int) -> Parts:
    """The daemon, whose process id this is, and all that it started."""
    root = psutil.Process(pid)
    return {DAEMON: root, **named(root.children(recursive=True))}


def named(processes: Iterable[psutil.Process]) -> Parts:
    """Servers by their name; what is none is the program."""
    return {name if (name := process.name()) in SERVERS else PROGRAM: process for process in processes}


def cpu_seconds(parts: Parts) -> dict[str, float]:
    """User and system time so far, all threads together; the kernel counts hundredths of a second."""
    times = {name: process.cpu_times() for name, process in parts.items()}
    return {name: spent.user + spent.system for name, spent in times.items()}


def shares(before: dict[str, float], after: dict[str, float], seconds: float) -> dict[str, float]:
    """Per cent of a core that each part took between two calls of ``cpu_seconds``."""
    return {name: 100 * (after[name] - before[name]) / seconds for name in before}


def pss_mib(parts: Parts) -> dict[str, float]:
    """Proportional set size of each part: a page that n processes share counts 1/n in each."""
    return {name: process.memory_full_info().pss / MIB for name, process in parts.items()}


def rss_mib(parts: Parts) -> dict[str, float]:
    """Resident set size of each part: shared pages count in full in each."""
    return {name: process.memory_info().rss / MIB for name, process in parts.items()}
