"""Ends a process of a test with all that it started."""

from __future__ import annotations

import contextlib
import subprocess

import psutil


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process with all that it started: a terminal's program has a session of its own, and waits for ever."""
    with contextlib.suppress(psutil.NoSuchProcess):
        started = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        for child in started:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
    process.wait()
