"""Names of processes from which a later process can determine whether they still live.

A name is ``host:boot:namespace:pid:start``. Process ids are those of a PID namespace, such as a container's: in another
one nothing can be told of them. A pid alone is used again, so the time of the process' start goes with it.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path


def owner_of(pid: int) -> str | None:
    """Return the name of a process of this PID namespace; None if it is dead."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # Field 22 is the start time; the name, field 2, may hold spaces and parentheses. Z is dead, though not reaped.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] == "Z" else f"{_here()}:{pid}:{fields[19]}"


def this_process() -> str:
    return owner_of(os.getpid()) or f"{_here()}:{os.getpid()}:"


def is_dead(owner: str) -> bool:
    """Return whether ``owner`` has ended; False where that can't be seen: on other machines, in other namespaces."""
    parts = owner.split(":")
    if len(parts) != 5 or parts[0] != socket.gethostname():
        return False
    _, boot, namespace, pid, start = parts
    here = _boot()
    if not (boot and here and start and pid.isdecimal()):
        return False
    # A machine's restart ends the processes of all its namespaces.
    return boot != here or (namespace == _namespace() != "" and owner_of(int(pid)) != owner)


def _here() -> str:
    return f"{socket.gethostname()}:{_boot()}:{_namespace()}"


def _boot() -> str:
    """Return the id of the machine's present boot, empty if unknown."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _namespace() -> str:
    """Return the number of the PID namespace of which /proc tells, empty unless it is this process' own."""
    try:
        if Path("/proc/self").readlink().name != str(os.getpid()):
            return ""
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        return ""
