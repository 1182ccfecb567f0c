"""Names of processes from which a later process can tell whether they still live."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def owner_of(pid: int) -> str | None:
    """Return a process of this machine as ``host:boot:pid:start``, as a pid alone is used again; None if it is dead."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
    # Field 22 is the start time; the name, field 2, may hold spaces and parentheses. Z is dead, though not reaped.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] == "Z" else f"{socket.gethostname()}:{boot}:{pid}:{fields[19]}"


def this_process() -> str:
    """Return the name of this process."""
    return owner_of(os.getpid()) or f"{socket.gethostname()}::{os.getpid()}:"


def is_dead(owner: str) -> bool:
    """Return whether ``owner`` was a process of this machine and has ended; False for other machines' processes."""
    host, _, rest = owner.partition(":")
    pid = rest.split(":")[1] if rest.count(":") == 2 else ""
    if host != socket.gethostname() or not pid.isdecimal():
        return False
    return owner_of(int(pid)) != owner
