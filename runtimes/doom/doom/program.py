"""The loop: keys from the screen, requests from the daemon, tics by the clock."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from pluriverse_protocol import metadata
from pluriverse_protocol.reports import Frame, Observation, Ready, Report, Reset, Stop
from pluriverse_server.kit import (
    PROBE_KEYSYM,
    DaemonGone,
    Keyboard,
    KeyEdge,
    KeyLatch,
    MetadataBlock,
    Pacer,
    Reporter,
    Window,
    wait_for_input,
)

from .catalogue import entry_of
from .engine import Engine

# runtime.toml says the same.
BLOCK_X: Final = 626
BLOCK_Y: Final = 8

# JPEG mixes what is within 8 pixels of each other: plain ground on each side keeps the game out of the block.
MARGIN: Final = 8


@dataclass(slots=True)
class _Episode:
    number: int
    pacer: Pacer
    over: bool = False
    sent: list[float] = field(default_factory=list[float])


class Program:
    """Plays one episode after another, as the daemon asks. The block's window is its own, above the engine's."""

    def __init__(self, reporter: Reporter, engine: Engine) -> None:
        """Open the block's window.

        Raises:
            NoDisplay: there is no X server that can be drawn on.
        """
        self._reporter = reporter
        self._engine = engine
        width, height = metadata.WIDTH + 2 * MARGIN, metadata.HEIGHT + 2 * MARGIN
        left, top = BLOCK_X - MARGIN, BLOCK_Y - MARGIN
        self._window = Window(width, height, left, top, "doom block", click_through=True)
        self._block = MetadataBlock(self._window, MARGIN, MARGIN)
        self._keyboard = Keyboard(self._window)
        self._latch = KeyLatch(self._keyboard.held_at_start)
        self._episode: _Episode | None = None

    def run(self) -> None:
        """Play until the daemon asks to stop or hangs up.

        Raises:
            UnknownEnvironment: the daemon asked for one that the catalogue hasn't.
            EngineDied: the engine has crashed.
        """
        try:
            while self._turn():
                pass
        except DaemonGone:
            return

    def _turn(self) -> bool:
        edges, requests = wait_for_input(self._keyboard, self._reporter, self._idle_s())
        self._take_keys(edges)
        for request in requests:
            match request:
                case Stop():
                    return False
                case Reset():
                    self._reset(request)
                case _:
                    pass
        if self._episode is not None and self._episode.pacer.take(time.monotonic()):
            self._tic(self._episode)
        return True

    def _idle_s(self) -> float | None:
        """Return the seconds until something is due; None if nothing is."""
        return None if self._episode is None else max(0.0, self._episode.pacer.next_due - time.monotonic())

    def _take_keys(self, edges: Iterable[KeyEdge]) -> None:
        for edge in edges:
            self._latch.apply(edge.keysym, down=edge.down)
            if edge.down and edge.keysym == PROBE_KEYSYM:
                self._block.saw_probe(edge.at)

    def _reset(self, request: Reset) -> None:
        self._engine.begin(entry_of(request.env), request.seed)
        self._stamp()
        self._window.sync()
        self._take_keys(self._keyboard.events())
        self._latch.forget_presses()
        pacer = Pacer(request.fps, time.monotonic() + 1 / request.fps)
        self._episode = _Episode(request.episode, pacer)
        self._reporter.report(Ready(request.episode, request.fps), *self._observation(self._episode))

    def _tic(self, episode: _Episode) -> None:
        if episode.over:
            # The last picture stays; its clock goes on.
            self._stamp()
            return
        outcome = self._engine.step(self._latch.take())
        at = self._stamp()
        reports: list[Report] = [Frame(episode.number, episode.pacer.frames, episode.pacer.late_frames, at)]
        reports += self._observation(episode)
        if outcome.is_last or outcome.reward:
            reports.append(outcome.report(episode.number, at))
        episode.over = outcome.is_last
        self._reporter.report(*reports)

    def _stamp(self) -> float:
        """Paint the clock, after the picture; return it in UNIX seconds."""
        now = time.time()
        self._block.stamp(now)
        # The engine's window may have come since the last tic.
        self._window.to_top()
        self._window.put(self._block.region)
        return now

    def _observation(self, episode: _Episode) -> list[Report]:
        """Return the variables, if one of them has changed."""
        values = self._engine.observation()
        if values == episode.sent:
            return []
        episode.sent = values
        return [Observation(episode.number, values)]
