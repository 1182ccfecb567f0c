"""The processes that a test started, and their end."""

import contextlib
import subprocess

import psutil


def children(words: str) -> list[psutil.Process]:
    """The processes below this one that have ``words`` in their command line, the newest last; ids wrap around."""
    found: list[psutil.Process] = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it ended meanwhile
            if words in " ".join(child.cmdline()):
                found.append(child)
    return sorted(found, key=psutil.Process.create_time)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process with all that it started: a terminal's program has a session of its own, and waits for ever."""
    with contextlib.suppress(psutil.NoSuchProcess):
        started = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        for child in started:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
    process.wait()
