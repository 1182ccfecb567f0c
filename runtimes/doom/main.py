"""The doom runtime's program, started by the daemon; ends with status 0 when asked to stop or disconnected."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from types import FrameType
from typing import NoReturn

# Before numpy is imported: its linear algebra, which nothing here uses, would start a thread for each core.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from doom.catalogue import UnknownEnvironment
from doom.engine import Engine, EngineDied
from doom.program import Program
from doom.shared_memory import sweep
from pluriverse_server.kit import NoDaemon, NoDisplay, Reporter


def _end(signum: int, frame: FrameType | None) -> NoReturn:
    sys.exit(0)


def main() -> int:
    """Play until asked to stop."""
    signal.signal(signal.SIGTERM, _end)
    sweep()
    with tempfile.TemporaryDirectory(prefix="doom-") as folder:
        # The engine leaves folders where it is started.
        os.chdir(folder)
        engine = Engine()
        try:
            Program(Reporter.from_environment(), engine).run()
        except (NoDaemon, NoDisplay, UnknownEnvironment, EngineDied) as error:
            sys.stderr.write(f"doom: {error}\n")
            return 1
        finally:
            engine.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
