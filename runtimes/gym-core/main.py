"""The gym-core runtime's program, started by the daemon; ends with status 0 when asked to stop or disconnected."""

from __future__ import annotations

import os
import sys

# Before numpy is imported: its linear algebra, which nothing here uses, would start a thread for each core.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from gym_core.program import Program, UnknownEnvironment
from pluriverse_server.kit import run_program

if __name__ == "__main__":
    sys.exit(run_program("gym-core", Program, UnknownEnvironment))
