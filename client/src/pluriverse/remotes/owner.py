"""Who started a remote, in a form that a later process can tell whether that one still lives."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def owner_of(pid: int) -> str | None:
    """A process of this machine as ``host:boot:pid:start``: ids are used again, with a start time they aren't.

    None if there is no such process.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
    # Field 22 is the start time; the name, field 2, may hold spaces and parentheses. Z is dead, though not reaped.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] == "Z" else f"{socket.gethostname()}:{boot}:{pid}:{fields[19]}"


def this_process() -> str:
    """The owner that this process is."""
    return owner_of(os.getpid()) or f"{socket.gethostname()}::{os.getpid()}:"


def is_dead(owner: str) -> bool:
    """Whether ``owner`` was a process of this machine and is no more. Of other machines nothing is known."""
    host, _, rest = owner.partition(":")
    pid = rest.split(":")[1] if rest.count(":") == 2 else ""
    if host != socket.gethostname() or not pid.isdecimal():
        return False
    return owner_of(int(pid)) != owner
