"""The gym-core program as a test plays it."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pluriverse_protocol import metadata
from pluriverse_protocol.metadata import Metadata
from pluriverse_protocol.reports import Delivered, Ready, Reset
from support.report_server import ReportServer
from support.typist import Typist
from support.xvfb import Xvfb

from .waiting import until

BLOCK: Final = (960, 16, metadata.WIDTH, metadata.HEIGHT)
DEADLINE_S: Final = 60.0


class Player:
    """The running program, a keyboard, and the daemon's end of its socket."""

    def __init__(self, display: Xvfb, runtime: Path, folder: Path, **environment: str) -> None:
        self.display = display
        self.daemon = ReportServer(folder)
        self.keyboard = Typist(display.name)
        self.process = subprocess.Popen(
            [sys.executable, "main.py"],
            cwd=runtime,
            env={**display.environment, "PLURIVERSE_SOCKET": str(self.daemon.path), **environment},
            stderr=subprocess.PIPE,
            text=True,
        )
        self.daemon.accept()
        # The last episode's.
        self.number: int = 0

    def reset(self, env: str, seed: int = 1, fps: float = 60.0) -> int:
        """Begin an episode and wait until it runs; its number."""
        self.number += 1
        self.daemon.send(Reset(self.number, env, seed, fps))
        while self.daemon.expect(Ready, timeout_s=DEADLINE_S).episode != self.number:
            pass
        return self.number

    def metadata(self) -> Metadata:
        """What the block on the screen says now; it must be there."""
        rows = self.display.pixels(*BLOCK)
        seen = metadata.decode(rows[0].tobytes(), rows[1].tobytes())
        assert seen is not None
        return seen

    def wait_for_metadata(self, wanted: Callable[[Metadata], bool]) -> Metadata:
        return until(self.metadata, wanted)

    def wait_for_step(self, episode: int) -> Metadata:
        """The block once a step whose reward has come is drawn, by the clock of an agent that has just had it.

        The reward's own clock isn't enough: one that was painted before the step may be of the same millisecond.
        """
        sent_at = time.time()
        self.daemon.send(Delivered(episode, sent_at))
        return self.wait_for_metadata(lambda seen: seen.clock > sent_at * 1000)

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        self.keyboard.display.close()
        self.daemon.__exit__(None, None, None)
