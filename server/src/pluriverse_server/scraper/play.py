"""A play: one run of a program on one screen with all that reads it. Several may exist at a time."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pluriverse_protocol.reports import Report

from pluriverse_server.display import AsyncInjector, DisplayLost
from pluriverse_server.display.nested import NestedScreen
from pluriverse_server.manifest.game import GameTables, ProgramTable, Step
from pluriverse_server.manifest.runtime import EnvTable, ManifestError, fill_command
from pluriverse_server.manifest.sources import LogSource
from pluriverse_server.process import StartError
from pluriverse_server.programs.catalogue import python_command
from pluriverse_server.sources.probes import Output, Target
from pluriverse_server.sources.probes.bus import AccessibilityBus
from pluriverse_server.sources.reading import SourceError, State
from pluriverse_server.sources.rules import Rules
from pluriverse_server.sources.screen.grab import ScreenLost

from .child import Child
from .home import HomeError, home_environment, make_home
from .limits import Limits
from .niceness import BACKGROUND_NICE, can_raise_priority, raise_priority
from .pace import Pace
from .screen_watch import ScreenWatch
from .source_reader import Cycle, SourceReader
from .stage import Stage
from .steps import StepFailed, Steps
from .tree import descendants

# How often it is looked what the program takes.
LIMITS_S: Final = 1.0

# A source of rewards that changes in each frame never settles; an episode begins without it.
SETTLE_S: Final = 0.25

# How often a play that waits to be shown is read: its readings are no older than this when its episode begins.
RESTING_FPS: Final = 4.0

_TROUBLE: Final = (SourceError, ScreenLost, DisplayLost, StepFailed, HomeError, StartError, ManifestError, OSError)


class Broken(Exception):
    """A play can't begin, or go on; the message says why, for people and agents."""


@dataclass(frozen=True)
class Plan:
    """What is played, and where. Two plays of plans that are equal are as good as each other."""

    directory: Path
    game: GameTables
    entry: EnvTable
    seed: int
    fps: float

    @property
    def program(self) -> ProgramTable:
        """The game's program."""
        assert self.game.program is not None
        return self.game.program

    def command(self, home: str) -> list[str]:
        """How the program is started, with everything filled in."""
        return python_command(fill_command(self.program.command, self.entry, seed=self.seed, fps=self.fps, home=home))

    def suits(self, other: Plan) -> bool:
        """Whether a play of this is as good for ``other``: the seed only counts where the program is told."""
        same = (self.game, self.entry, self.fps) == (other.game, other.entry, other.fps)
        return same and self.command("") == other.command("")


class Play:
    """A program that runs, its screen and its sources. Made by ``Play.start``; ``stop`` ends it all."""

    def __init__(self, plan: Plan, on_cycle: Callable[[Play, Cycle], None]) -> None:
        self.plan = plan
        self.rules = Rules(plan.game)
        self.pace: Pace
        self._on_cycle = on_cycle
        self._child: Child | None = None
        self._last: Cycle | None = None
        self._broken: str | None = None
        self._ending = contextlib.AsyncExitStack()
        self._stopping: asyncio.Task[None] | None = None

    @classmethod
    async def start(
        cls, plan: Plan, stage: Stage, on_cycle: Callable[[Play, Cycle], None], *, gently: bool = False
    ) -> Play:
        """Start the program; ``on_cycle`` is told of every cycle on the way to its first episode.

        ``gently``: let everything else go first until it is shown.

        Raises:
            Broken: it can't be started. Nothing is left of it.
        """
        play = cls(plan, on_cycle)
        stage.on.add(play)
        play._ending.callback(stage.on.discard, play)
        try:
            await play._start(stage, gently=gently)
        except BaseException as error:
            await play.stop()
            if isinstance(error, _TROUBLE):
                raise Broken(str(error)) from error
            if isinstance(error, Exception):
                # No threads left, a cookie that can't be read: whatever it is, the next may go better.
                raise Broken(f"the program could not be started: {type(error).__name__}: {error}") from error
            raise
        return play

    async def _start(self, stage: Stage, *, gently: bool) -> None:
        plan, program = self.plan, self.plan.program
        folder = Path(tempfile.mkdtemp(prefix="play-", dir=stage.folder))
        self._ending.callback(shutil.rmtree, folder, ignore_errors=True)
        self._nested: NestedScreen | None = None
        screen = stage.screen
        if plan.game.reset.spares:
            self._nested = await NestedScreen.start(stage.screen, *stage.size, folder=stage.folder)
            self._ending.push_async_callback(self._nested.stop)
            screen = self._nested.environment
            stage.cookies.add(screen)
            self._ending.callback(stage.cookies.remove, screen)
        home = folder / "home"
        template = plan.directory / program.home if program.home is not None else None
        await asyncio.to_thread(make_home, home, template)
        env = home_environment(home, screen, program.env)
        if program.accessibility:
            bus = await AccessibilityBus.start(folder, env)
            self._ending.push_async_callback(bus.stop)
            env |= bus.environment
        display, cookies = screen["DISPLAY"], stage.cookies.path
        output = Output()
        target = Target(
            lambda: self._child.pid if self._child else None,
            home,
            output,
            lambda: self._child.exit_code if self._child else None,
            env,
        )
        self._senses = SourceReader(plan.game, plan.directory, target, display)
        self._ending.callback(self._senses.close)
        self._watch = ScreenWatch(display, cookies)
        self._ending.callback(self._watch.close)
        self.pace = Pace(plan.fps, self._watch.drawn)
        hands = await AsyncInjector.open(display, cookies)
        self._ending.push_async_callback(hands.close)
        self._steps = Steps(hands, plan.directory, home, self._led_cycle)
        self._child = child = await Child.start(
            plan.command(str(home)),
            cwd=plan.directory,
            env=env,
            folder=folder,
            output=output,
            nice=BACKGROUND_NICE if gently and can_raise_priority() else 0,
        )
        self._ending.push_async_callback(child.stop)
        self._watch_limits(Limits(program.limits, child.keeper.pid, home, lambda: child.printed_bytes))

    # ── to an episode ───────────────────────────────────────────────────────────────────────────────────────────────

    async def prepare(self) -> None:
        """Lead a program that has just been started to its first episode.

        Raises:
            Broken: it ended, showed no window, a step failed, or the episode did not get ready.
        """
        limit_s = self.plan.program.ready.timeout_s
        failure = f"no window on the screen after {limit_s:g} s; if it needs more, set timeout_s in program.ready"
        try:
            await self._wait(self._has_window, limit_s, failure)
        except DisplayLost as error:
            raise Broken(str(error)) from error
        await self.lead(*self.plan.game.reset.start, *self.plan.game.reset.steps)

    async def lead(self, *steps: Step) -> None:
        """Do ``steps`` and wait until the episode is ready.

        Raises:
            Broken: the program ended, a step failed, or the episode did not get ready.
        """
        self._senses.leave()
        for number, step in enumerate(steps, 1):
            try:
                await self._steps.do(number, step)
            except _TROUBLE as error:
                raise Broken(str(error)) from error
        limit_s = self.plan.game.episode.ready_timeout_s
        condition = self.plan.game.episode.ready
        failure = f"the episode was not ready after {limit_s:g} s"
        failure = f"{failure}: {condition!r} does not hold" if condition else failure
        await self._wait(self.is_ready, limit_s, failure)
        # What was written before the episode must not be read as if it were of it.
        ready_at = time.time()
        backlog = f"the program's logs could not be read to their end within {limit_s:g} s; let it write less"
        await self._wait(lambda cycle: self._has_read_logs(cycle, ready_at), limit_s, backlog)
        # Read anew, since an agent may score in the very first frame: then it must be known what the score was before.
        self._senses.begin()
        settled_by = asyncio.get_running_loop().time() + SETTLE_S

        def may_begin(cycle: Cycle) -> bool:
            playable = self.is_ready(cycle) and self._is_settled(cycle, settled_by)
            return playable and self._has_read_logs(cycle, ready_at)

        await self._wait(may_begin, limit_s, failure)

    def is_ready(self, cycle: Cycle) -> bool:
        """Whether an episode's first frame is there."""
        return self.rules.ready(cycle.readings)

    async def rest(self) -> None:
        """Keep a play that is ready so, until it isn't any more; slowly, for it isn't seen."""
        self.pace.fps = RESTING_FPS
        try:
            while self.is_ready(await self._led_cycle()):
                pass
        except Broken:
            return
        finally:
            self.pace.fps = self.plan.fps

    async def show(self) -> None:
        """Put it on the screen, where it plays on one of its own.

        Raises:
            Broken: its screen is gone.
        """
        raise_priority([self.child.keeper.pid, *descendants(self.child.keeper.pid)])
        if self._nested is not None:
            try:
                await self._nested.show()
            except DisplayLost as error:
                raise Broken(str(error)) from error

    def _is_settled(self, cycle: Cycle, latest: float) -> bool:
        rewarded = {reward.source for reward in self.plan.game.rewards}
        late = asyncio.get_running_loop().time() > latest
        return late or not any(cycle.readings[name].state is State.UNSETTLED for name in rewarded)

    def _has_read_logs(self, cycle: Cycle, until: float) -> bool:
        """Whether all that was in them at that time (UNIX seconds) has been read."""
        logs = [name for name, table in self.plan.game.sources.items() if isinstance(table, LogSource)]
        samples = [cycle.readings[name].sample for name in logs]
        return all(sample is not None and sample.at >= until and not sample.behind for sample in samples)

    def _has_window(self, _: Cycle) -> bool:
        return self._watch.has_window_of(descendants(self.child.keeper.pid))

    async def _wait(self, holds: Callable[[Cycle], bool], limit_s: float, failure: str) -> None:
        deadline = asyncio.get_running_loop().time() + limit_s
        while not holds(await self._led_cycle()):
            if asyncio.get_running_loop().time() > deadline:
                raise Broken(failure)

    async def _led_cycle(self) -> Cycle:
        cycle = await self.cycle()
        self._on_cycle(self, cycle)
        if self.has_ended:
            raise Broken(f"the program ended before its episode began: {self.child.describe_end()}")
        return cycle

    # ── in an episode ───────────────────────────────────────────────────────────────────────────────────────────────

    def begin(self, episode_id: int) -> list[Report]:
        """An episode begins, with what was read last; returns what that says. Its cycles are counted from here."""
        assert self._last is not None
        self.pace.begin()
        self.rules.begin(episode_id, self._last.at)
        return self.rules.feed(self._last.at, self._last.readings)

    async def cycle(self) -> Cycle:
        """Read every source, once that is due.

        Raises:
            Broken: the program took too much, a source can't be read any more, or the screen is gone.
        """
        await self.pace.next()
        if self._broken is not None:
            raise Broken(self._broken)
        self._watch.rearm()
        try:
            # What a program that has ended leaves on the screen is no score.
            self._last = await self._senses.read(screen=not self.has_ended)
        except _TROUBLE as error:
            raise Broken(str(error)) from error
        return self._last

    @property
    def child(self) -> Child:
        """The program."""
        assert self._child is not None
        return self._child

    @property
    def has_ended(self) -> bool:
        """Whether the program has."""
        return self.child.ended.is_set()

    @property
    def is_stopping(self) -> bool:
        """Whether it has been stopped, or is being."""
        return self._stopping is not None

    async def stop(self) -> None:
        """End the program with all that it started, and everything that read it. May be called repeatedly."""
        # Whoever waits for it may be cancelled; it goes on to its end.
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._ending.aclose(), name="play's end")
        await asyncio.shield(self._stopping)

    def _watch_limits(self, limits: Limits) -> None:
        loop, stopped = asyncio.get_running_loop(), threading.Event()
        self._ending.callback(stopped.set)

        def watch() -> None:
            while not stopped.wait(LIMITS_S):
                reason = limits.exceeded()
                if reason is not None:
                    with contextlib.suppress(RuntimeError):
                        loop.call_soon_threadsafe(self.break_off, reason)
                    return

        # A thread that is there from the beginning: a program that forks without end may leave room for no other.
        threading.Thread(target=watch, name="limits", daemon=True).start()

    def break_off(self, reason: str) -> None:
        """It is no use any more: end the program, whoever is waiting for what; ``cycle`` gives the reason."""
        self._broken = reason
        self.child.end()
