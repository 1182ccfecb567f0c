"""The loop: keys from the screen, requests from the daemon, frames by the clock."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator

from pluriverse_protocol.reports import Delivered, Request, Reset, Stop
from pluriverse_server.kit import PROBE_KEYSYM, DaemonGone, Keyboard, KeyEdge, KeyLatch, Reporter, wait_for_input

from .environments import Environments
from .episode import Episode
from .screen import Screen


class Program:
    """Plays one episode after another, as the daemon asks."""

    def __init__(self, reporter: Reporter, screen: Screen) -> None:
        self._reporter = reporter
        self._screen = screen
        self._keyboard = Keyboard(screen.window)
        self._latch = KeyLatch(self._keyboard.held_at_start)
        self._environments = Environments()
        self._episode: Episode | None = None
        # The agent waits for a clock later than this one (UNIX seconds).
        self._awaited: float | None = None

    def run(self) -> None:
        """Play until the daemon asks to stop or hangs up.

        Raises:
            UnknownEnvironment: the daemon asked for one that the catalogue hasn't.
        """
        try:
            while self._turn():
                pass
        except DaemonGone:
            return

    def _turn(self) -> bool:
        edges, requests = wait_for_input(self._keyboard, self._reporter, self._idle_s())
        self._take_keys(edges)
        if not self._take_requests(requests):
            return False
        self._repaint()
        if self._episode is not None:
            self._episode.tick(time.monotonic())
        return True

    def _take_keys(self, edges: Iterable[KeyEdge]) -> None:
        for edge in self._noted(edges):
            if edge.down and self._episode is not None:
                self._episode.press(edge.keysym)

    def _take_requests(self, requests: Iterable[Request]) -> bool:
        for request in requests:
            match request:
                case Stop():
                    return False
                case Reset():
                    self._reset(request)
                case Delivered(_, sent_at):
                    self._awaited = sent_at
                case _:
                    pass
        return True

    def _idle_s(self) -> float | None:
        """Return the seconds until something is due; None if nothing is."""
        if self._episode is None:
            return None
        idle = self._episode.next_due - time.monotonic()
        if self._awaited is not None:
            idle = min(idle, _next_millisecond(self._awaited) - time.time())
        return max(0.0, idle)

    def _noted(self, edges: Iterable[KeyEdge]) -> Iterator[KeyEdge]:
        """Yield key edges one by one, after passing each to the latch and the block."""
        for edge in edges:
            self._latch.apply(edge.keysym, down=edge.down)
            if edge.down and edge.keysym == PROBE_KEYSYM:
                self._screen.block.saw_probe(edge.at)
            yield edge

    def _reset(self, request: Reset) -> None:
        entry = self._environments.entry(request.env)
        environment = self._environments.environment(entry)
        self._awaited = None
        self._episode = Episode(request, environment, self._screen, self._latch, self._reporter, sync=entry.sync)
        # Keys that went down while there was no picture to answer are held, but no steps.
        for _ in self._noted(self._keyboard.events()):
            pass
        self._episode.begin()

    def _repaint(self) -> None:
        if self._awaited is not None and time.time() >= _next_millisecond(self._awaited):
            self._screen.stamp()
            self._awaited = None


def _next_millisecond(clock: float) -> float:
    """Return when the painted clock, in whole milliseconds, is later than ``clock``."""
    return (math.floor(clock * 1000) + 1) / 1000
