"""The gym-core runtime's program, started by the daemon; ends with status 0 when asked to stop or disconnected."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

# Before numpy is imported: its linear algebra, which nothing here uses, would start a thread for each core.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from gym_core.environments import UnknownEnvironment
from gym_core.program import Program
from gym_core.screen import Screen
from pluriverse_server.kit import NoDaemon, NoDisplay, Reporter


def _end(signum: int, frame: FrameType | None) -> NoReturn:
    sys.exit(0)


def main() -> int:
    """Play until asked to stop."""
    signal.signal(signal.SIGTERM, _end)
    try:
        Program(Reporter.from_environment(), Screen()).run()
    except (NoDaemon, NoDisplay, UnknownEnvironment) as error:
        sys.stderr.write(f"gym-core: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
