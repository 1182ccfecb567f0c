"""Earns points at random moments, and keeps books of them that no fault of the remote can reach.

Each process writes a file into the folder ``books`` beside this one, a line for each reward before it is reported:
episode and points, and then ``over`` where the episode ended, or ``left`` where it was reset. Rewards say in their info
which line of the books they belong to.
"""

from __future__ import annotations

import os
import random
import sys
import time
from pathlib import Path
from typing import Final

from pluriverse_protocol.reports import Frame, Ready, Report, Reset
from pluriverse_server import kit

WIDTH, HEIGHT, FPS = 320, 240, 30
BLOCK_X, BLOCK_Y = 280, 16

BOOKS: Final = Path(__file__).with_name("books")

# Short, so that many end between two faults and some while an agent is away.
SHORTEST_S, LONGEST_S = 3.0, 9.0

# Of each frame.
CHANCE: Final = 0.2


class Earning(kit.Program):
    """Episodes that end by themselves."""

    def __init__(self, reporter: kit.Reporter) -> None:
        """Open window and books."""
        self._window = kit.Window(WIDTH, HEIGHT, title="Earning")
        block = kit.MetadataBlock(self._window, BLOCK_X, BLOCK_Y)
        super().__init__(reporter, self._window, block)
        self._name = f"{os.getpid()}-{time.time_ns()}"
        self._books = (BOOKS / self._name).open("w", buffering=1)
        self._region = block.region
        self._stamp = block.stamp
        self._episode: int | None = None
        self._ends_at = 0.0
        self._pacer = kit.Pacer(FPS, time.monotonic())

    def reset(self, request: Reset) -> None:
        """Leave the episode, and begin another."""
        if self._episode is not None:
            self._books.write(f"{self._episode} left\n")
        self._episode = request.episode
        self._random = random.Random(request.seed)
        self._paint()
        self._window.sync()
        self.drop_keys()
        self._pacer = kit.Pacer(FPS, time.monotonic())
        self._ends_at = time.monotonic() + self._random.uniform(SHORTEST_S, LONGEST_S)
        self.reporter.report(Ready(request.episode, FPS))

    def idle_s(self) -> float:
        """Return the seconds until the next frame."""
        return self._pacer.next_due - time.monotonic()

    def attend(self) -> None:
        """Paint a frame when it is due, and earn with some."""
        if not self._pacer.take(time.monotonic()):
            return
        at = self._paint()
        if self._episode is not None:
            self._step(self._episode, at)

    def _step(self, episode: int, at: float) -> None:
        reports: list[Report] = [Frame(episode, self._pacer.frames, self._pacer.late_frames, at)]
        over = time.monotonic() >= self._ends_at
        if over or self._random.random() < CHANCE:
            points = self._random.randint(1, 3)
            self._books.write(f"{episode} {points}\n" + (f"{episode} over\n" if over else ""))
            outcome = kit.Outcome(points, terminated=over, reason="time is up" if over else "")
            reports.append(outcome.report(episode, at, {"books": f"{self._name} {episode}"}))
        if over:
            self._episode = None
        self.reporter.report(*reports)

    def _paint(self) -> float:
        now = time.time()
        self._stamp(now)
        self._window.put(self._region)
        return now


if __name__ == "__main__":
    sys.exit(kit.run_program("earning", Earning))
