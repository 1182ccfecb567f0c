"""Plays all episodes of a suite, side by side on as many remotes as there are."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from pluriverse.errors import ActionError, ConfigurationError, PluriverseError, RemoteFailed, ResetNeeded

from .agents import Agent, AgentFailed
from .modes import Mode
from .play import Play
from .results import Episode, Folder
from .suite import Suite, Task

# Remotes that break are replaced so many times in a row before a task is given up, after as many seconds as broke.
ATTEMPTS: Final = 3

Key = tuple[str, str, int]


@dataclass(slots=True)
class Lot:
    """Episodes of one task in one clock, which are played on the same remote."""

    task: Task
    episodes: list[tuple[Mode, int]]
    broken: int = 0


@dataclass(slots=True)
class Runner:
    """Plays what isn't done of a suite; ``report`` is called with each episode, and ``warn`` with what went wrong."""

    suite: Suite
    modes: Sequence[Mode]
    open_agent: Callable[[], Agent]
    folder: Folder
    options: dict[str, Any]
    report: Callable[[Episode], None]
    warn: Callable[[str], None]
    missing: list[str] = field(default_factory=list[str])
    """Episodes that could not be played, and why."""
    _ended: threading.Event = field(default_factory=threading.Event)

    def lots(self, done: Collection[Key]) -> list[Lot]:
        lots: dict[tuple[str, str], Lot] = {}
        for task in self.suite.tasks:
            for mode in self.modes:
                if mode.paused and not task.paused:
                    continue
                left = [(mode, seed) for seed in self.suite.seeds if (task.name, mode.name, seed) not in done]
                if left:
                    lots.setdefault((task.name, mode.clock), Lot(task, [])).episodes += left
        return list(lots.values())

    def run(self, lots: Iterable[Lot], places: Sequence[str]) -> None:
        """Play some lots on some remotes, each as ``remotes=`` for one; what was played is kept, however this ends."""
        waiting: queue.SimpleQueue[Lot] = queue.SimpleQueue()
        for lot in lots:
            waiting.put(lot)
        # Not joined: a join that Ctrl-C interrupts takes the thread for ended, up to Python 3.12.
        ended: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        for place in places:
            threading.Thread(target=self._work, args=(waiting, place, ended), daemon=True).start()
        working = len(places)
        try:
            while working:
                error = ended.get()
                working -= 1
                if error is not None:
                    raise error
        except KeyboardInterrupt:
            self.warn("stopping after the current episodes; press Ctrl-C again to stop now")
            raise
        finally:
            self._ended.set()
            for _ in range(working):
                ended.get()
        self.folder.sort()

    def _work(
        self, waiting: queue.SimpleQueue[Lot], place: str, ended: queue.SimpleQueue[BaseException | None]
    ) -> None:
        try:
            with contextlib.closing(self.open_agent()) as agent:
                while not self._ended.is_set():
                    try:
                        lot = waiting.get_nowait()
                    except queue.Empty:
                        break
                    self._play_lot(lot, place, agent)
        except BaseException as error:  # noqa: BLE001 - raised by run
            ended.put(error)
        else:
            ended.put(None)

    def _play_lot(self, lot: Lot, place: str, agent: Agent) -> None:
        while lot.episodes and not self._ended.is_set():
            try:
                try:
                    opened = Play(lot.task, lot.episodes[0][0], place, **self.options)
                except ConfigurationError as error:
                    # No other attempt would help; other tasks may do without what this one needs.
                    self._leave_out(lot, error)
                    return
                with opened as play:
                    while lot.episodes and not self._ended.is_set():
                        self._play_episode(play, agent, *lot.episodes[0])
                        del lot.episodes[0]
                        lot.broken = 0
            except ConfigurationError:
                raise
            except PluriverseError as error:
                lot.broken += 1
                self.warn(f"{lot.task.name}: {error}")
                if lot.broken >= ATTEMPTS:
                    self._leave_out(lot, error)
                else:
                    self._ended.wait(lot.broken)

    def _leave_out(self, lot: Lot, error: PluriverseError) -> None:
        self.missing.extend(f"{lot.task.name} {mode.name} seed {seed}: {error}" for mode, seed in lot.episodes)
        lot.episodes.clear()

    def _play_episode(self, play: Play, agent: Agent, mode: Mode, seed: int) -> None:
        name = f"{play.task.name}-{mode.name}-{seed}.plrec"
        path = self.folder.recordings / name
        for old in self.folder.recordings.glob(f"{name}*"):
            old.unlink()
        error = None
        play.start(seed, mode, path)
        try:
            agent.play(play)
        except (AgentFailed, ActionError) as failed:
            error = str(failed)
        except ResetNeeded:
            # It was over in the middle of what the agent did.
            pass
        with contextlib.suppress(ResetNeeded):
            while not play.over and error is None:
                play.send([])
        if play.lost:
            raise RemoteFailed("the remote or its program broke in the middle of an episode")
        episode = self._result(play, error)
        play.finish()
        episode.recording = str(path.relative_to(self.folder.path))
        self.folder.add(episode)
        self.report(episode)

    def _result(self, play: Play, error: str | None) -> Episode:
        task, status = play.task, play.standing()
        # A failed agent gains nothing from it where doing nothing is worth something.
        score = task.score(play.total_reward)
        reactions = play.reactions_ms
        described = play.described
        return Episode(
            task=task.name,
            mode=play.mode.name,
            seed=play.seed,
            score=score if error is None else min(0.0, score),
            earned=play.total_reward,
            success=error is None and play.total_reward >= task.success,
            ended="failed" if error is not None else play.ended,
            error=error,
            game_s=round(play.played_s, 3),
            acts=len(reactions),
            reaction_ms=(_percentile(reactions, 50), _percentile(reactions, 95)) if reactions else None,
            lags_ms=status.lags.ms,
            runtime=f"{described.runtime} {described.runtime_version}",
        )


def _percentile(values: Sequence[float], percent: float) -> float:
    return round(float(np.percentile(values, percent)), 3)
