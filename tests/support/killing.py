"""Killing remotes that a test's own process started."""

from __future__ import annotations

import os

import psutil
from pluriverse.remotes.address import Address


def kill_remote(address: Address) -> None:
    """SIGKILL to the daemon that listens at ``address``; what it started dies with it."""
    for process in psutil.Process(os.getpid()).children(recursive=True):
        words = process.cmdline()
        if "pluriverse_server" in words and str(address.rewarder_port) in words:
            process.kill()
            return
    raise LookupError(f"no remote of this process listens at {address}")
