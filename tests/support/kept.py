"""What a remote has at a moment, of all that it might keep: memory, descriptors, threads, tasks, files."""

from __future__ import annotations

import contextlib
import os
import re
import time
import urllib.request
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

import psutil

MIB: Final = 1 << 20

Part = Literal["daemon", "x_server", "vnc_server", "program"]

# After an agent has left, its seat is kept for half a minute in case it comes back.
SETTLE_S: Final = 60.0
LOOK_S: Final = 0.5


def attached(pid: int) -> set[int]:
    """The segments of SysV's shared memory that a process has attached, by their numbers."""
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    return {int(line.split()[4]) for line in lines if "/SYSV" in line}


def made_by(creators: set[int]) -> set[int]:
    """The segments that there are of those that these processes have made, whether they live or not."""
    rows = [row.split() for row in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]]
    return {int(row[1]) for row in rows if int(row[4]) in creators}


@dataclass(frozen=True, slots=True)
class Kept:
    """Memory is in MiB: what is a process' own, and its share of the rest, without pages of files.

    Of those its share grows when another process that has them ends.
    """

    daemon: float
    x_server: float
    vnc_server: float
    program: float
    """The memory of all other processes."""
    shared: float
    """The memory of all processes that is shared, and no file's."""
    segments: float
    """Of SysV's shared memory, attached by a process, or made by one and still there."""
    descriptors: float
    threads: float
    processes: float
    tasks: float
    """Of the daemon's event loop."""
    files: float
    """In the folder for temporary files."""
    agents: float
    """Descriptors and threads of this process, in which the agents are."""

    @property
    def counts(self) -> tuple[float, ...]:
        return self.segments, self.descriptors, self.threads, self.processes, self.tasks, self.files

    def __sub__(self, before: Kept) -> Kept:
        then, now = asdict(before), asdict(self)
        return Kept(**{name: round(now[name] - then[name], 2) for name in now})

    def beyond(self, bounds: Kept) -> dict[str, float]:
        allowed = asdict(bounds)
        return {name: value for name, value in asdict(self).items() if value > allowed[name]}


class Household:
    """The processes of one remote, and their folder for temporary files."""

    def __init__(self, pid: int, port: int, folder: str) -> None:
        """``pid`` is the daemon's, or of the process that started it; ``port`` the rewarder port."""
        self._root = psutil.Process(pid)
        # In a container it is started by an init.
        self._daemon = self._root.children()[0] if self._root.name() == "tini" else self._root
        self._port = port
        self._folder = Path(f"/proc/{pid}/root/{folder}")
        self._seen: set[int] = set()

    def look(self) -> Kept:
        memory: dict[Part, float] = {"daemon": 0.0, "x_server": 0.0, "vnc_server": 0.0, "program": 0.0}
        shared = descriptors = threads = count = 0.0
        segments: set[int] = set()
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError, FileNotFoundError):
                pss, shmem = _memory(process.pid)
                segments |= attached(process.pid)
                memory[self._part(process)] += pss
                shared, count = shared + shmem, count + 1
                descriptors, threads = descriptors + process.num_fds(), threads + process.num_threads()
        me = psutil.Process()
        return Kept(
            **memory,
            shared=shared,
            segments=len(segments | made_by(self._seen)),
            descriptors=descriptors,
            threads=threads,
            processes=count,
            tasks=self._tasks(),
            files=sum(len(folders) + len(files) for _, folders, files in os.walk(self._folder)),
            agents=me.num_fds() + me.num_threads(),
        )

    def settled(self, for_s: float) -> Kept:
        """Return what there is once nothing else has been counted ``for_s`` seconds long, or in vain after a while."""
        seen, since = self.look(), time.monotonic()
        deadline = since + SETTLE_S + for_s
        while time.monotonic() < min(since + for_s, deadline):
            time.sleep(LOOK_S)
            before, seen = seen, self.look()
            if seen.counts != before.counts:
                since = time.monotonic()
        return seen

    def grown_since(self, before: Kept, bounds: Kept) -> Kept:
        """Return what has been added since ``before``, once that is within ``bounds``, or in vain after a while."""
        deadline = time.monotonic() + SETTLE_S
        while (grown := self.look() - before).beyond(bounds) and time.monotonic() < deadline:
            time.sleep(LOOK_S)
        return grown

    def processes(self) -> Iterable[psutil.Process]:
        found = [self._root, *self._root.children(recursive=True)]
        self._seen.update(process.pid for process in found)
        return found

    def variables(self) -> dict[str, str]:
        """Return DISPLAY and XAUTHORITY of the remote's screen."""
        for process in self.processes():
            with contextlib.suppress(psutil.Error):
                environment = process.environ()
                if "pluriverse" in environment.get("XAUTHORITY", ""):
                    return {name: environment[name] for name in ("DISPLAY", "XAUTHORITY")}
        raise LookupError("no process of the remote draws on its screen")

    def _part(self, process: psutil.Process) -> Part:
        if process.name() == "X0tigervnc":
            return "vnc_server"
        if process.name() in ("Xvfb", "Xtigervnc"):
            return "x_server"
        return "daemon" if process == self._daemon else "program"

    def _tasks(self) -> float:
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/metrics", timeout=60) as answer:
            found = re.search(r"^pluriverse_tasks (\S+)$", answer.read().decode(), re.MULTILINE)
        assert found
        return float(found[1])


def _memory(pid: int) -> tuple[float, float]:
    """MiB of a process: proportional, and shared that is no file's."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    status = Path(f"/proc/{pid}/status").read_text()
    pss, shmem = (
        re.findall(r"^Pss_(?:Anon|Shmem):\s+(\d+)", rollup, re.MULTILINE),
        re.findall(r"RssShmem:\s+(\d+)", status),
    )
    return sum(map(int, pss)) * 1024 / MIB, int(shmem[0]) * 1024 / MIB
