"""The doom runtime's program, started by the daemon; ends with status 0 when asked to stop or disconnected."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile

# Before numpy is imported: its linear algebra, which nothing here uses, would start a thread for each core.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from doom.catalogue import UnknownEnvironment
from doom.engine import Engine, EngineDied
from doom.program import Program
from doom.shared_memory import sweep
from pluriverse_server.kit import run_program


def main() -> int:
    sweep()
    with tempfile.TemporaryDirectory(prefix="doom-") as folder, contextlib.closing(Engine()) as engine:
        # The engine leaves folders where it is started.
        os.chdir(folder)
        return run_program("doom", lambda reporter: Program(reporter, engine), UnknownEnvironment, EngineDied)


if __name__ == "__main__":
    sys.exit(main())
