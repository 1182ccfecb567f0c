"""A play: one run of a program on one screen, with everything that reads it. Several may exist at a time."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shlex
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pluriverse_protocol.env_options import Value
from pluriverse_protocol.reports import Ready, Report, Reset

from pluriverse_server.display import AsyncInjector, DisplayLost
from pluriverse_server.display.nested import NestedScreen
from pluriverse_server.home import HELD_HOME, HomeError, hold_home, home_environment, make_home
from pluriverse_server.lockstep import Advance, FrozenClock, NoClock, PreloadedClock
from pluriverse_server.manifest.game import GameTables, ProgramTable, Step
from pluriverse_server.manifest.runtime import EnvTable, ManifestError, fill_command
from pluriverse_server.manifest.sources import LogSource
from pluriverse_server.manifest.table import fill
from pluriverse_server.process import StartError, executable
from pluriverse_server.programs.catalogue import python_command
from pluriverse_server.sound import SoundFile
from pluriverse_server.sources.program import ProgramOutput, Target
from pluriverse_server.sources.program.bus import AccessibilityBus
from pluriverse_server.sources.program.tree import read_tree
from pluriverse_server.sources.reading import Pixels, ReadingState, SourceError, SourceHangs
from pluriverse_server.sources.rules import Rules
from pluriverse_server.sources.screen.grab import ScreenLost
from pluriverse_server.sources.settle import SETTLE_S
from pluriverse_server.sources.trees import Box, NoTree, Tree, trim
from pluriverse_server.tasks import in_thread
from pluriverse_server.x11.framebuffer import FILE, NoFramebuffer, framebuffer

from .child import Child
from .cookies import Cookies
from .daemon_connection import SOCKET_VARIABLE
from .descriptors import NotKept
from .limits import BACKGROUND_NICE, Limits, below, can_raise_priority, raise_priority, watch
from .mirror import Screens
from .outside import LIBRARY as OUTSIDE_LIBRARY
from .outside import copy_games, no_bus
from .own_screen import OwnScreen
from .pace import Pace, SteppedPace
from .pads import LIBRARY as PADS_LIBRARY
from .pads import Pads
from .pads import environment as pads_environment
from .player import Broken
from .report_listener import ReportListener
from .screen_watch import ScreenWatch
from .sound import Card
from .source_reader import Cycle, SourceReader
from .stepped import FOLDER_PREFIX, Copy, KeptPlay, Stepped
from .steps import StepFailed, Steps
from .still_screen import StillScreen
from .tree import descendants, signal_all
from .worlds import Siblings, World

log = logging.getLogger(__name__)

# A program that hasn't come to its clock by then never will: it can't have anything preloaded.
CLOCK_S: Final = 5.0

# How often a play in the background is read: its readings are no older than this when its episode begins.
RESTING_FPS: Final = 4.0

# Starts a session bus, and a program that has it; ends the bus after it.
BUS_RUNNER: Final = "dbus-run-session"

# How long what runs before a program has for itself, of the program's time.
BEFORE_S: Final = 0.5

# What starts a program in lockstep later, below its HOME, and how the shell that waits for it finds it.
_START: Final = ".run/start"
_AT_START: Final = '"$HOME/.run/start"'
_AWAIT_START: Final = f"until [ -e {_AT_START} ]; do sleep 0.05; done; . {_AT_START}"

_FAILURES: Final = (SourceError, ScreenLost, DisplayLost, StepFailed, HomeError, StartError, ManifestError, OSError)


@dataclass(frozen=True)
class PlaySettings:
    """The settings of a play. Plays of equal settings are interchangeable."""

    directory: Path
    game: GameTables
    entry: EnvTable
    seed: int
    fps: float
    options: Mapping[str, Value] = field(default_factory=dict[str, Value])
    lockstep: bool = False
    reset: Reset | None = None
    """The episode that it is made for, which a program that reports itself is asked for."""

    @property
    def program(self) -> ProgramTable:
        assert self.game.program is not None
        return self.game.program

    def command(self, home: str, task: Mapping[str, Any] | None = None) -> list[str]:
        """Return the program's own."""
        filled = fill_command(
            self.program.command, self.entry, seed=self.seed, fps=self.fps, home=home, options=self.options, task=task
        )
        return python_command(filled)

    def start(self, command: Sequence[str], *, later: bool) -> list[str]:
        """Return what is to be run for a command, with what runs before it. ``later``: it is in ``_START`` then."""
        if (before := self.program.before) is not None:
            then = _AWAIT_START if later else f'sleep {BEFORE_S}; exec "$@"'
            command = ["sh", "-c", f"{shlex.join(before)} & {then}", "sh", *command]
        # It is the program's child, and so has its time.
        return [BUS_RUNNER, "--", *command] if self.program.dbus else [*command]

    def suits(self, other: PlaySettings) -> bool:
        """Return whether a play of these may be used for ``other``; seeds and options matter if the command has any."""
        same = (self.game, self.entry, self.fps, self.lockstep) == (other.game, other.entry, other.fps, other.lockstep)
        return same and self.command("") == other.command("")

    @property
    def starts_later(self) -> bool:
        """Whether programs of all seeds are started from one moment, in which what is ``before`` them runs."""
        return self.lockstep and self.program.before is not None and not self.program.same_start

    def starts_from(self, other: PlaySettings) -> bool:
        """Return whether that moment of ``other`` is one of these, too."""
        same = (self.game.without_task, self.fps, self.lockstep) == (other.game.without_task, other.fps, other.lockstep)
        return same and self.starts_later

    @property
    def start_seed(self) -> int:
        """What its start in lockstep follows from. All that comes after ``ready`` follows from the episode's seed."""
        return 0 if self.program.same_start else self.seed

    def begins_as(self, other: PlaySettings) -> bool:
        """Return whether an episode of ``other`` begins as those of these: its chance is the same, too."""
        if not self.program.same_start or self.game.task is None:
            return self.suits(other) and self.start_seed == other.start_seed
        # Its task, which may be another, is set up then.
        same = (self.game.without_task, self.fps, self.lockstep) == (other.game.without_task, other.fps, other.lockstep)
        return same and self.command("") == other.command("")


@dataclass(frozen=True, slots=True)
class _Open:
    """What a play has open on its screen, beside its program, whose environment is ``environment``."""

    environment: Mapping[str, str]
    sources: SourceReader
    nested: NestedScreen | None


@dataclass(slots=True)
class _Clients:
    """Those of its X server that lead a play to its episode."""

    watch: ScreenWatch
    steps: Steps | None = None


class Play(Stepped):
    """A running program, its screen and its sources. Made by ``Play.start``; ``stop`` ends everything."""

    def __init__(self, settings: PlaySettings, on_cycle: Callable[[Play, Cycle], None]) -> None:
        super().__init__(Rules(settings.game))
        self.settings = settings
        self.picture: Sequence[int] = ()
        self.hidden: Sequence[int] | None = None
        """In lockstep: the part of the screen to see, and that where something goes by real time."""
        self._on_cycle = on_cycle
        self._pace: Pace | SteppedPace | None = None
        self._own_screen: OwnScreen | None = None
        self._folder: Path | None = None
        self._open: _Open | None = None
        self._clients: _Clients | None = None
        self.before: KeptPlay | None = None
        """The moment before its program's start."""
        self._named_home = Path()
        self._starts_later = False
        self.card: Card | None = None
        """What it plays on in real time."""
        self._child: Child | None = None
        self._report_listener: ReportListener | None = None
        self.stuck: str | None = None
        """Why a thread of this process will never end."""
        self._exit_stack = contextlib.AsyncExitStack()
        self._stopping: asyncio.Task[None] | None = None

    @classmethod
    async def start(
        cls,
        settings: PlaySettings,
        desktop: SharedDesktop,
        on_cycle: Callable[[Play, Cycle], None],
        *,
        background: bool = False,
    ) -> Play:
        """Start the program; ``on_cycle`` is called with each cycle before its first episode.

        ``background``: run at low priority until it is shown.
        """
        play = cls(settings, on_cycle)
        desktop.plays.add(play)
        play._exit_stack.callback(desktop.plays.discard, play)
        try:
            await play._start(desktop, background=background)
        except BaseException as error:
            await play.stop()
            if isinstance(error, _FAILURES):
                raise Broken(str(error)) from error
            if isinstance(error, Exception):
                # Such as no threads left, or an unreadable cookie: the next attempt may succeed.
                raise Broken(f"the program could not be started: {type(error).__name__}: {error}") from error
            raise
        return play

    async def _start(self, desktop: SharedDesktop, *, background: bool) -> None:
        settings, program = self.settings, self.settings.program
        self._folder = desktop.folder
        folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX, dir=desktop.folder))
        self._exit_stack.callback(shutil.rmtree, folder, ignore_errors=True)
        nested: NestedScreen | None = None
        screen = desktop.screen
        if settings.game.reset.spares and not settings.lockstep:
            nested = await NestedScreen.start(desktop.screen, *desktop.size, folder=desktop.folder)
            self._exit_stack.push_async_callback(nested.stop)
            screen = nested.environment
            desktop.cookies.add(screen)
            self._exit_stack.callback(desktop.cookies.remove, screen)
        clock = self._make_clock(folder) if settings.lockstep else None
        if clock is not None and settings.game.may_be_kept and OwnScreen.is_possible():
            self._own_screen = own = await OwnScreen.start(*desktop.size, folder, clock)
            self._exit_stack.push_async_callback(own.stop)
            screen = own.environment
            desktop.cookies.add(screen)
            self._exit_stack.callback(desktop.cookies.remove, screen)
        home = self.home = folder / "home"
        template = settings.directory / program.home if program.home is not None else None
        await asyncio.to_thread(make_home, home, template)
        await asyncio.to_thread(copy_games, home)
        self.assign(settings, home)
        self._starts_later = settings.starts_later and self._own_screen is not None
        if not program.same_start and not self._starts_later:
            await asyncio.to_thread(self.set_up, settings)
        # Under one name, each world of it has a HOME of its own.
        held = settings.lockstep and (program.same_addresses or self._own_screen is not None)
        named_home = self._named_home = HELD_HOME if held else home
        if self._own_screen is not None and clock is not None:
            clock.place(self._own_screen.hub.path, home)
        self.card = Card(folder)
        given = {**self.card.environment, **desktop.locale, **program.env}
        env = home_environment(named_home, screen, given)
        if program.accessibility:
            bus = await AccessibilityBus.start(folder, env)
            self._exit_stack.push_async_callback(bus.stop)
            env |= bus.environment
        if settings.game.is_heard:
            # A short name: paths of sockets are limited.
            place = folder / "r"
            self._report_listener = ReportListener(place)
            await self._report_listener.start()
            self._exit_stack.push_async_callback(self._report_listener.stop)
            env[SOCKET_VARIABLE] = str(place)
        display, cookies = screen["DISPLAY"], desktop.cookies.path
        output = ProgramOutput()
        target = Target(
            lambda: self._child.pid if self._child else None,
            home,
            output,
            lambda: self._child.exit_code if self._child else None,
            env,
        )
        self.memory = memory = self._screen_memory(screen) if settings.lockstep else None
        if self._own_screen is not None:
            self.screens = desktop.screens
            self._exit_stack.callback(self.hide_screen)
        sources = SourceReader(settings.game, settings.directory, target, display, memory, self.assignment)
        self._exit_stack.callback(sources.close)
        if program.dbus:
            executable(BUS_RUNNER, package="dbus-daemon")
        known = self.assignment.parameters if self.assignment is not None and not self._starts_later else None
        command = settings.command(str(named_home), known)
        for first in (command[0], *(program.before or ())[:1]):
            executable(first, path=env.get("PATH"), cwd=settings.directory)
        command = settings.start(() if self._starts_later else command, later=self._starts_later)
        preloaded = [OUTSIDE_LIBRARY] if OUTSIDE_LIBRARY.exists() else []
        if program.pads:
            self.pads = Pads(home, program.pads)
            self._exit_stack.callback(self.pads.close)
            preloaded.append(PADS_LIBRARY)
            env |= pads_environment(named_home, program.pads)
        if settings.lockstep:
            self.picture, self.hidden = settings.game.episode.picture or (0, 0, *desktop.size), desktop.block
            self.still = StillScreen(display, cookies, self.picture, self.hidden, memory)
            self._exit_stack.callback(self.still.close)
            self.still.begin()
            if clock is not None:
                clock.watch(self.still.server_pid)
                command = clock.command(command, before=preloaded)
        else:
            clients = await self._connect(display, cookies, self._exit_stack)
            self._pace = Pace(settings.fps, clients.watch.drawn)
        if preloaded and clock is None:
            # Programs with privileges of their files' have nothing preloaded.
            command = ["setpriv", "--no-new-privs", "env", f"LD_PRELOAD={':'.join(map(str, preloaded))}", *command]
        self._open = _Open(env, sources, nested)
        self._child = child = await Child.start(
            hold_home(home, command) if held else command,
            cwd=settings.directory,
            env={**no_bus(named_home), **env},
            folder=folder,
            output=output,
            nice=BACKGROUND_NICE if background and not settings.lockstep and can_raise_priority() else 0,
            network=program.network,
        )
        self._exit_stack.push_async_callback(child.stop)
        if settings.lockstep:
            await self._step_with(clock, home)
        self.limits = Limits(program.limits, self._processes, home, lambda: child.printed_bytes)
        self._watch_limits(self.limits)

    def _processes(self) -> list[int]:
        if self.world is None:
            return below(self.child.keeper.pid)
        self.world.siblings.measure()
        return self.world.processes()

    def _screen_memory(self, screen: Mapping[str, str]) -> Pixels | None:
        """Return where the X server keeps its screen; None if that isn't accessible."""
        try:
            return framebuffer(Path(screen["XAUTHORITY"]).with_name(FILE))
        except NoFramebuffer as error:
            log.debug("the screen is read by requests: %s", error)
            return None

    def _make_clock(self, folder: Path) -> PreloadedClock | None:
        try:
            clock = PreloadedClock(folder, seed=self.settings.start_seed, frame_time=1 / self.settings.fps)
        except NoClock as error:
            log.warning("%s", error)
            return None
        self._exit_stack.callback(clock.close)
        return clock

    async def _step_with(self, clock: PreloadedClock | None, home: Path) -> None:
        """Step by the program's own clock if it has come to it; else have the program frozen between steps."""
        child = self.child
        if clock is not None and await asyncio.to_thread(clock.await_program, CLOCK_S):
            self._pace = SteppedPace(self.settings.fps, clock)
            if self._own_screen is not None and self.still is not None:
                server = self.still.server_pid
                siblings = Siblings(self._own_screen.hub, child.keeper.pid, server)
                self._exit_stack.callback(siblings.close)
                self.world = World(
                    siblings,
                    clock,
                    home,
                    self._own_screen.memory,
                    program=child.pid,
                    server=server,
                    clients=[self.still.injector],
                    pads=self.pads,
                )
            # Not stopped elsewhere: it may take SIGTERM for a quit event, for which it had to continue.
            self._exit_stack.callback(lambda: signal_all(descendants(child.keeper.pid), signal.SIGKILL))
        else:
            self._freeze(clock)

    def _freeze(self, clock: PreloadedClock | FrozenClock | None) -> None:
        if isinstance(clock, PreloadedClock):
            clock.leave()
        self.world = None
        keeper = self.child.keeper.pid
        frozen = FrozenClock(lambda: descendants(keeper))
        self._exit_stack.callback(frozen.close)
        self._pace = SteppedPace(self.settings.fps, frozen)

    def _check_clock(self) -> None:
        """Freeze a program that was started by one that has its clock, and hasn't got it itself."""
        if isinstance(self.pace, SteppedPace) and not self._rules_clock(self.pace.clock):
            self._freeze(self.pace.clock)

    def _rules_clock(self, clock: PreloadedClock | FrozenClock) -> bool:
        return isinstance(clock, FrozenClock) or clock.rules(descendants(self.child.keeper.pid))

    @property
    def is_frozen(self) -> bool:
        """Whether the program has its own time in lockstep, and is stopped between steps."""
        return isinstance(self.pace, SteppedPace) and isinstance(self.pace.clock, FrozenClock)

    async def _connect(self, display: str, cookies: Path, stack: contextlib.AsyncExitStack) -> _Clients:
        """Have clients of the X server, until the stack is left."""
        watch = ScreenWatch(display, cookies)
        stack.callback(watch.close)
        self._clients = clients = _Clients(watch)
        reset = self.settings.game.reset
        if reset.start or reset.steps:
            injector = await AsyncInjector.open(display, cookies)
            stack.push_async_callback(injector.close)
            assert self.home is not None
            clients.steps = Steps(injector, self.settings.directory, self.home, self._cycle_before_episode, self._now)
        return clients

    async def prepare(self, settings: PlaySettings) -> None:
        """Lead the program to an episode, from its start if that has yet to come or can be gone back to."""
        self.settings = settings
        if not settings.lockstep:
            await self._prepare()
            return
        display = self._opened.environment["DISPLAY"]
        if self._starts_later:
            if self.before is not None:
                self.return_to(self.before)
                self.go_on(self.before, 0)
                assert self.world is not None
                display = self.world.display
            else:
                await self._come_to_start()
            await in_thread(self._start_program)
        async with contextlib.AsyncExitStack() as stack:
            # They can't go back.
            await self._connect(display, Path(self._opened.environment["XAUTHORITY"]), stack)
            await self._prepare()

    async def _come_to_start(self) -> None:
        """Go on until what runs before the program has done what it does, and keep that moment."""
        until = self._now() + BEFORE_S
        while self._now() < until:
            await self._cycle_before_episode()
        try:
            self.before = self.keep()
        except NotKept as error:
            log.info("each program is started anew with all that runs before it: %s", error)

    def _start_program(self) -> None:
        """Have what waits for it start the program of these settings. Blocking."""
        settings = self.settings
        clock = self.pace.clock if isinstance(self.pace, SteppedPace) else None
        if isinstance(clock, PreloadedClock):
            clock.date_from(settings.start_seed)
            clock.draw_from(settings.start_seed)
        self.set_up(settings)
        command = settings.command(str(self._named_home), self.assignment and self.assignment.parameters)
        assert self.home is not None
        (self.home / _START).write_text(f"rm {_AT_START}; exec {shlex.join(command)}\n")

    async def _prepare(self) -> None:
        limit_s = self.settings.program.ready.timeout_s
        failure = f"no window on the screen after {limit_s:g} s; if it needs more, set timeout_s in program.ready"
        try:
            await self._wait(self._has_window, limit_s, lambda _: failure)
        except DisplayLost as error:
            raise Broken(str(error)) from error
        self._check_clock()
        game = self.settings.game
        await self.lead(*game.reset.start, *game.reset.steps, reset=self.settings.reset)

    def return_to(self, kept: KeptPlay) -> None:
        super().return_to(kept)
        assert self.world is not None
        self.child.become(self.world.program)

    def copy(self, slot: int, kept: KeptPlay, episode_id: int) -> Copy:
        """Return another world of this program, at a moment of it, that goes on beside; raise Broken. Blocking."""
        assert self._folder is not None
        if self.broken is not None:
            # What is kept of it is about to end, too.
            raise Broken(self.broken)
        return Copy(self, slot, kept, episode_id, self._opened.environment, self._folder)

    @property
    def moments(self) -> int:
        """How many of its moments are kept."""
        return len(self.world.siblings.kept) if self.world is not None else 0

    def go_aside(self) -> bool:
        """End all but what is kept of moments; return whether there is any."""
        self.hide_screen()
        if self.world is None or not self.moments:
            return False
        self.world.end()
        return True

    async def lead(self, *steps: Step, reset: Reset | None) -> None:
        """Do ``steps`` and wait until the episode is ready. A program that reports is asked for that of ``reset``."""
        self._opened.sources.leave()
        if self._report_listener is not None and reset is not None:
            self._report_listener.ask(reset)
        for number, step in enumerate(steps, 1):
            assert self._led_by.steps is not None
            try:
                await self._led_by.steps.do(number, self._filled(step))
            except _FAILURES as error:
                raise Broken(str(error)) from error
        limit_s = self.settings.game.episode.ready_timeout_s

        def not_ready(cycle: Cycle) -> str:
            why = f"the episode was not ready after {limit_s:g} s{self.rules.why_not_ready(cycle.readings)}"
            return f"{why}; or the program did not report ready" if self._report_listener is not None else why

        await self._wait(self.is_ready, limit_s, not_ready)
        # Log lines from before the episode must not be read as the episode's.
        ready_at = self.pace.unix()
        backlog = f"the program's logs could not be read to their end within {limit_s:g} s; reduce its output"
        await self._wait(lambda cycle: self._has_read_logs(cycle, ready_at), limit_s, lambda _: backlog)
        # Read again, since an agent may score in the very first frame: the score before it must be known.
        self._opened.sources.begin()
        settled_by = self.pace.now() + SETTLE_S + self.settings.game.settles_s

        def may_begin(cycle: Cycle) -> bool:
            playable = self.is_ready(cycle) and self._is_settled(cycle, settled_by)
            return playable and self._has_read_logs(cycle, ready_at)

        await self._wait(may_begin, limit_s, not_ready)

    def _filled(self, step: Step) -> Step:
        """Return a step with what is typed of its task's parameters."""
        if step.type is None or self.assignment is None:
            return step
        values = {f"task.{name}": value for name, value in self.assignment.parameters.items()}
        return step.model_copy(update={"type": fill(step.type, values)})

    def is_ready(self, cycle: Cycle) -> bool:
        return self.rules.ready(cycle.readings) and (
            self._report_listener is None or self._report_listener.ready is not None
        )

    @property
    def said_ready(self) -> Ready | None:
        """The program's ready report, if it sends one."""
        return self._report_listener.ready if self._report_listener is not None else None

    def heard(self) -> list[Report]:
        """Return what the program reported since the last call, and what follows from it."""
        assert self.last is not None
        said = self._report_listener.take() if self._report_listener is not None else []
        return [follows for report in said for follows in self.rules.hear(self.last.at, report)]

    async def tree(self, picture: Box) -> Tree:
        if self.has_ended:
            raise NoTree("the program has ended")
        return trim(await asyncio.to_thread(read_tree, self._opened.environment), picture)

    async def rest(self) -> None:
        """Return once a play that is ready no longer is. Reads slowly, since the play isn't visible."""
        self.pace.fps = RESTING_FPS
        try:
            while self.is_ready(await self._cycle_before_episode()):
                pass
        except Broken:
            return
        finally:
            self.pace.fps = self.settings.fps

    async def show(self) -> None:
        """Show a play that has a screen of its own; raise Broken if that screen is gone."""
        raise_priority([self.child.keeper.pid, *descendants(self.child.keeper.pid)])
        if self.card is not None:
            self.card.clear()
        if self._opened.nested is not None:
            try:
                await self._opened.nested.show()
            except DisplayLost as error:
                raise Broken(str(error)) from error

    def _is_settled(self, cycle: Cycle, latest: float) -> bool:
        rewarded = {reward.source for reward in self.settings.game.rewards} & cycle.readings.keys()
        late = self.pace.now() > latest
        return late or not any(cycle.readings[name].state is ReadingState.UNSETTLED for name in rewarded)

    def _has_read_logs(self, cycle: Cycle, until: float) -> bool:
        """Return whether everything that was in the logs at that UNIX time was read."""
        logs = [name for name, table in self.settings.game.sources.items() if isinstance(table, LogSource)]
        samples = [cycle.readings[name].sample for name in logs]
        return all(sample is not None and sample.at >= until and not sample.behind for sample in samples)

    def _has_window(self, _: Cycle) -> bool:
        return self._led_by.watch.has_window_of(descendants(self.child.keeper.pid))

    async def _wait(self, holds: Callable[[Cycle], bool], limit_s: float, failure: Callable[[Cycle], str]) -> None:
        deadline = self.pace.now() + limit_s
        while not holds(cycle := await self._cycle_before_episode()):
            if self.pace.now() > deadline:
                raise Broken(failure(cycle))

    def _now(self) -> float:
        return self.pace.now()

    async def _cycle_before_episode(self) -> Cycle:
        cycle = await self.cycle()
        self._on_cycle(self, cycle)
        if self.has_ended:
            raise Broken(f"the program ended before its episode began: {self.child.describe_end()}{self.refused}")
        return cycle

    async def cycle(self) -> Cycle:
        """Read every source when the next cycle is due."""
        answer = await self.pace.next()
        if isinstance(self.pace, SteppedPace):
            # How far one has loaded after seconds is chance, as would be the frame with which its episode begins.
            while answer is Advance.LATE and self._rules_clock(self.pace.clock):
                answer = await self.pace.catch_up()
            return self.cycle_still()
        self._require_whole()
        self.look_for_pads()
        self._led_by.watch.rearm()
        try:
            # What an ended program leaves on the screen doesn't count.
            self.last = await self._opened.sources.read(screen=not self.has_ended)
        except _FAILURES as error:
            raise self.failed(error) from error
        return self.last

    def cycle_still(self) -> Cycle:
        self._require_whole()
        return super().cycle_still()

    def failed(self, error: Exception) -> Broken:
        if isinstance(error, SourceHangs):
            self.stuck = str(error)
        return Broken(str(error))

    def _require_whole(self) -> None:
        if self.broken is not None:
            raise Broken(self.broken)
        if self._report_listener is not None and self._report_listener.loss is not None and not self.has_ended:
            raise Broken(self._report_listener.loss)

    @property
    def pace(self) -> Pace | SteppedPace:
        assert self._pace is not None
        return self._pace

    @property
    def sources(self) -> SourceReader:
        return self._opened.sources

    @property
    def origin(self) -> Play:
        return self

    @property
    def _opened(self) -> _Open:
        assert self._open is not None
        return self._open

    @property
    def _led_by(self) -> _Clients:
        assert self._clients is not None
        return self._clients

    @property
    def child(self) -> Child:
        assert self._child is not None
        return self._child

    @property
    def has_ended(self) -> bool:
        return self.child.ended.is_set()

    @property
    def is_stopping(self) -> bool:
        return self._stopping is not None

    async def stop(self) -> None:
        # Continues even if the caller is cancelled.
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._exit_stack.aclose(), name="play's end")
        await asyncio.shield(self._stopping)

    def _watch_limits(self, limits: Limits) -> None:
        loop, stopped = asyncio.get_running_loop(), threading.Event()
        self._exit_stack.callback(stopped.set)

        def exceeded(reason: str, program: int) -> None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self.exceeded, reason, program)

        watch(limits, stopped, lambda: self.first_process, exceeded)

    def break_off(self, reason: str) -> None:
        """End the program at once; ``cycle`` raises ``Broken`` with the reason."""
        self.broken = reason
        self.child.end()


@dataclass(frozen=True)
class SharedDesktop:
    """Shared by all plays: the daemon's screen (DISPLAY and XAUTHORITY) of ``size`` pixels, and a private folder."""

    screen: Mapping[str, str]
    size: tuple[int, int]
    folder: Path
    cookies: Cookies
    block: tuple[int, int, int, int] | None = None
    """Where the metadata block is painted above the program."""
    locale: Mapping[str, str] = field(default_factory=dict[str, str])
    """The variables that set the language and time zone of programs."""
    screens: Screens | None = None
    sound: SoundFile | None = None
    """What people hear."""
    plays: set[Play] = field(default_factory=set[Play])

    async def clear(self) -> None:
        await asyncio.gather(*(play.stop() for play in list(self.plays)))
