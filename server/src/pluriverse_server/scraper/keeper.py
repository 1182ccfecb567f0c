"""``python -m pluriverse_server.scraper.keeper``: runs one program and ends it with everything that it started.

It is a process between scraper and program: what the program leaves behind by forking twice becomes its child, and it
outlives a scraper that is killed for as long as cleaning up takes.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Final

from .tree import adopt_orphans, descendants, die_with, kill_below, reap, signal_all

# SDL programs take SIGTERM as a quit event and may sit on it; a remote has two seconds to stop in all.
GRACE_S: Final = 0.3

# Killing some thousand processes takes a second; what isn't gone then hangs in the kernel.
KILL_S: Final = 5.0

_WAITED_FOR: Final = (signal.SIGTERM, signal.SIGCHLD)


def main() -> None:
    """Run the command, write its start and end to the status pipe, and end it all at SIGTERM or the parent's death."""
    parser = argparse.ArgumentParser(prog="python -m pluriverse_server.scraper.keeper")
    parser.add_argument("--parent", type=int, required=True, help="the process whose end ends the program")
    parser.add_argument(
        "--status", type=int, required=True, help="the file descriptor for lines about its start and end"
    )
    parser.add_argument("--output", type=int, required=True, help="the file descriptor for its output")
    parser.add_argument("--folder", required=True, help="removed when all has ended")
    parser.add_argument("--nice", type=int, default=0)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    signal.pthread_sigmask(signal.SIG_BLOCK, _WAITED_FOR)
    adopt_orphans()
    die_with(options.parent)
    os.nice(options.nice)
    for descriptor in (options.status, options.output):
        os.set_inheritable(descriptor, False)
    try:
        program = _spawn(options.command, options.output)
    except OSError as error:
        _tell(options.status, f"failed {error.strerror}")
        sys.exit(1)
    os.close(options.output)
    _tell(options.status, f"started {program}")
    while signal.sigwait(_WAITED_FOR) != signal.SIGTERM:
        # Also of others: one that was made again from a snapshot takes the program's place.
        for pid, code in reap().items():
            _tell(options.status, f"ended {pid} {code}")
    _end()
    shutil.rmtree(options.folder, ignore_errors=True)
    if os.getppid() != options.parent:
        # Nobody else removes what it was in.
        with contextlib.suppress(OSError):
            Path(options.folder).parent.rmdir()


def _spawn(command: list[str], output: int) -> int:
    null = os.open(os.devnull, os.O_RDONLY)
    try:
        return os.posix_spawnp(
            command[0],
            command,
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, null, 0), *((os.POSIX_SPAWN_DUP2, output, to) for to in (1, 2))],
            setsid=True,
            setsigmask=[],
            # Python ignores these, and a program would inherit that.
            setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
        )
    finally:
        os.close(null)


def _tell(status: int, line: str) -> None:
    try:
        os.write(status, line.encode() + b"\n")
    except BrokenPipeError:
        return


def _end() -> None:
    me = os.getpid()
    signal_all(descendants(me), signal.SIGTERM)
    deadline = time.monotonic() + GRACE_S
    while descendants(me) and (left_s := deadline - time.monotonic()) > 0:
        signal.sigtimedwait({signal.SIGCHLD}, left_s)
        reap()
    kill_below(me, KILL_S)


if __name__ == "__main__":
    main()
