"""A program in lockstep at one moment after another: its world, its screen and what is read of it.

That of a play, or a copy beside it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import tempfile
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pluriverse_protocol.events import ScreenEvent
from pluriverse_protocol.reports import EVIDENCE, Report, Text

from pluriverse_server.display import DisplayLost
from pluriverse_server.home import HomeError, make_home
from pluriverse_server.lockstep import NoClock, PreloadedClock
from pluriverse_server.process import StartError
from pluriverse_server.sources.program import ProgramOutput, Target
from pluriverse_server.sources.reading import Pixels, SourceError
from pluriverse_server.sources.rules import Rules
from pluriverse_server.sources.screen.grab import ScreenLost
from pluriverse_server.sources.task import Assignment
from pluriverse_server.task import TaskError
from pluriverse_server.x11.framebuffer import FILE, NoFramebuffer, framebuffer, make_memory

from .descriptors import NotKept
from .limits import Limits, watch
from .mirror import OWN_SLOT, Screens
from .outside import refused
from .pace import Pace, SteppedPace
from .pads import Pads
from .player import Broken
from .source_reader import Cycle, KeptReadings, SourceReader
from .still_screen import StillScreen
from .worlds import Moment, World, WorldLost

if TYPE_CHECKING:
    from .play import Play, PlaySettings

log = logging.getLogger(__name__)

FOLDER_PREFIX: Final = "play-"


@dataclass(frozen=True, slots=True)
class KeptPlay:
    """A moment of a program, to which it can go back."""

    moment: Moment
    rules: object
    readings: KeptReadings
    last: Cycle
    task: object
    """Its task, and how that is set up."""


class Stepped(ABC):
    """A program that goes on as it is stepped, at least while it has a ``world``."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.home: Path | None = None
        self.still: StillScreen | None = None
        """The screen of a program that stands."""
        self.world: World | None = None
        self.broken: str | None = None
        """Why it can't go on."""
        self.last: Cycle | None = None
        self.slot = OWN_SLOT
        self.limits: Limits | None = None
        self.screens: Screens | None = None
        """Those of which people see one; None: its own is no world's, but the remote's."""
        self.memory: Pixels | None = None
        """Where the X server keeps its screen; None if that isn't accessible."""
        self.pads: Pads | None = None
        self.assignment: Assignment | None = None
        """Its task, if it has one."""
        self._turns = b""

    @property
    @abstractmethod
    def origin(self) -> Play:
        """The play whose program it is."""
        ...

    @property
    @abstractmethod
    def sources(self) -> SourceReader: ...

    @property
    @abstractmethod
    def pace(self) -> Pace | SteppedPace: ...

    @property
    @abstractmethod
    def has_ended(self) -> bool: ...

    @abstractmethod
    def break_off(self, reason: str) -> None:
        """End the program at once; ``cycle_still`` raises ``Broken`` with the reason."""
        ...

    @property
    def first_process(self) -> int:
        return self.origin.child.pid if self.world is None else self.world.program

    def exceeded(self, reason: str, program: int) -> None:
        """End the program at once, unless it has gone back since its first process was ``program``, as it was found."""
        if program == self.first_process:
            self.break_off(reason)

    def why_it_ended(self) -> str:
        """Return why it did, as far as is known. Blocking."""
        child = self.origin.child
        how = child.how_it_ended(self.first_process)
        return (self.limits and self.limits.exceeded()) or f"the program ended: {how}{self.refused}"

    @property
    def refused(self) -> str:
        """What it was refused last, to be put after how it ended."""
        return refused(self.home) if self.home is not None else ""

    def pressed(self) -> Sequence[ScreenEvent]:
        """Return what people have pressed since the last call on a screen of the remote's that isn't the program's."""
        return self.screens.take(self.slot) if self.screens is not None else ()

    def begin(self, episode_id: int, settings: PlaySettings) -> list[Report]:
        """Begin an episode at what was read last; return what follows from that."""
        assert self.last is not None
        pace = self.pace
        pace.begin()
        if isinstance(pace, SteppedPace) and isinstance(pace.clock, PreloadedClock):
            # The seed that the program was started with may have been another.
            pace.clock.draw_from(settings.seed)
        said: list[Report] = []
        if self.assignment is not None:
            if settings.program.same_start:
                self.set_up(settings)
            self.rules.evidence = self.assignment.evidence if settings.options.get(EVIDENCE) else dict
            said.append(Text(episode_id, self.assignment.words))
        self.rules.begin(episode_id, self.last.at)
        return said + self.rules.feed(self.last.at, self.last.readings)

    def assign(self, settings: PlaySettings, home: Path) -> None:
        """Give it the task of its game in a new HOME, if there is one."""
        if (table := settings.game.task) is not None:
            assignment = self.assignment = Assignment(table, settings.directory, settings.entry.id, home)
            if assignment.task.grade == "submit":
                assignment.due = lambda: self.rules.submitted

    def set_up(self, settings: PlaySettings) -> None:
        """Set up the task of its game, if there is one; raise Broken if that fails. Blocking."""
        if self.assignment is not None and settings.game.task is not None:
            try:
                self.assignment.become(settings.game.task, settings.entry.id)
                self.assignment.set_up(settings.seed)
            except TaskError as error:
                raise Broken(str(error)) from error

    def keep(self) -> KeptPlay:
        """Return the present moment; raise NotKept with the reason why it can't be kept. Blocking."""
        if self.world is None:
            raise NotKept("the program has a screen with others, or no clock of ours")
        if self.broken is not None or self.has_ended or self.last is None:
            raise NotKept("the program has ended")
        readings = self.sources.keep()
        task = self.assignment and self.assignment.keep()
        return KeptPlay(self.world.keep(), self.rules.keep(), readings, self.last, task)

    def go_back(self, kept: KeptPlay, episode_id: int) -> None:
        """Be where the program was at a moment, now in this episode; raise Broken if it can't be. Blocking."""
        self.return_to(kept)
        self.go_on(kept, episode_id)

    def return_to(self, kept: KeptPlay) -> None:
        """Have the program where it was at a moment; raise Broken if it can't be."""
        if self.world is None or self.broken is not None or self.origin.is_stopping:
            raise Broken(self.broken or "the program has ended")
        try:
            self.world.go_back(kept.moment)
        except NotKept as error:
            raise Broken(str(error)) from error
        except WorldLost as error:
            self.break_off(str(error))
            raise Broken(str(error)) from error

    def go_on(self, kept: KeptPlay, episode_id: int) -> None:
        """Continue from a moment, where the program is, in this episode."""
        self.rules.go_back(kept.rules, episode_id)
        self.sources.go_back(kept.readings)
        self.last = kept.last
        if self.assignment is not None:
            self.assignment.go_back(kept.task)

    def show_screen(self) -> None:
        """Have its screen among those of which people see one."""
        if self.screens is not None and self.memory is not None:
            self.screens.put(self.slot, self.memory)

    def hide_screen(self) -> None:
        if self.screens is not None and self.memory is not None:
            self.screens.remove(self.slot, self.memory)

    def cycle_still(self) -> Cycle:
        """Read every source of a program that stands still. Blocking."""
        if self.broken is not None:
            raise Broken(self.broken)
        try:
            self.last = self.sources.read_still(self.pace.unix(), screen=not self.has_ended)
        except (SourceError, ScreenLost, DisplayLost, OSError) as error:
            raise self.failed(error) from error
        self._note_drawing()
        self.look_for_pads()
        return self.last

    def see(self) -> tuple[Pixels, Sequence[tuple[int, int]]]:
        """Return the picture, and its rows that may differ since the last call; see ``StillScreen.see``."""
        assert self.still is not None
        self._note_drawing()
        return self.still.see()

    def _note_drawing(self) -> None:
        """Have the screen looked at by people and agents, unless its X server has done nothing since the last call."""
        assert isinstance(self.pace, SteppedPace)
        turns = self.pace.clock.turns()
        if turns and turns == self._turns:
            return
        self._turns = turns
        if self.still is not None:
            self.still.may_differ = True
        if self.screens is not None:
            self.screens.touch(self.slot)

    def look_for_pads(self) -> None:
        if self.pads is not None:
            self.pads.look(self.pace.now())

    def failed(self, error: Exception) -> Broken:
        """Return what is to be raised for what went wrong as it was read."""
        return Broken(str(error))


class Copy(Stepped):
    """A world beside that of a play, with a screen, a HOME and a time of its own. Blocking; ``close`` ends it."""

    def __init__(
        self, play: Play, slot: int, kept: KeptPlay, episode_id: int, environment: Mapping[str, str], parent: Path
    ) -> None:
        """Be at a moment of the play's program, or raise Broken."""
        settings = play.settings
        super().__init__(Rules(settings.game))
        self.slot = slot
        self.screens = play.screens
        self._play = play
        self._exit_stack = contextlib.ExitStack()
        # Of a name as long as the play's: the program has it in its memory.
        folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX, dir=parent))
        self._exit_stack.callback(shutil.rmtree, folder, ignore_errors=True)
        try:
            self._begin(kept, episode_id, environment, folder)
        except (DisplayLost, HomeError, NoClock, NoFramebuffer, StartError, OSError) as error:
            self.close()
            raise Broken(f"there can't be another world of the program: {error}") from error
        except BaseException:
            self.close()
            raise

    def _begin(self, kept: KeptPlay, episode_id: int, environment: Mapping[str, str], folder: Path) -> None:
        play, settings = self._play, self._play.settings
        assert play.world is not None
        assert isinstance(play.pace, SteppedPace)
        home = self.home = folder / "home"
        screen = folder / FILE
        make_home(home, None)
        self._exit_stack.callback(os.close, make_memory(screen))
        shutil.copyfile(play.world.screen, screen)
        clock = PreloadedClock(folder, seed=settings.start_seed, frame_time=1 / settings.fps)
        self._exit_stack.callback(clock.close)
        siblings = play.world.siblings
        clock.place(siblings.hub.path, home)
        memory = self.memory = framebuffer(screen)
        if settings.program.pads:
            self.pads = Pads(home, settings.program.pads)
            self._exit_stack.callback(self.pads.close)
        self.world = world = World(siblings, clock, home, screen, pads=self.pads)
        self._exit_stack.callback(world.close)
        self._pace = SteppedPace(settings.fps, clock, play.pace.begun)
        target = Target(lambda: world.program, home, ProgramOutput(), lambda: None, environment)
        self.assign(settings, home)
        self._sources = SourceReader(settings.game, settings.directory, target, world.display, memory, self.assignment)
        self._exit_stack.callback(self._sources.close)
        self.go_back(kept, episode_id)
        display, cookies = world.display, Path(environment["XAUTHORITY"])
        self.still = StillScreen(display, cookies, play.picture, play.hidden, memory)
        self._exit_stack.callback(self.still.close)
        (injector,) = kept.moment.clients
        self.still.injector.adopt(injector)
        world.clients = [self.still.injector]
        stopped = threading.Event()
        self._exit_stack.callback(stopped.set)
        self.limits = Limits(settings.program.limits, world.processes, home)
        watch(self.limits, stopped, lambda: self.first_process, self.exceeded)
        self._exit_stack.callback(self.hide_screen)

    @property
    def origin(self) -> Play:
        return self._play

    @property
    def sources(self) -> SourceReader:
        return self._sources

    @property
    def pace(self) -> SteppedPace:
        return self._pace

    @property
    def has_ended(self) -> bool:
        return self.world is None or self.world.has_ended

    def break_off(self, reason: str) -> None:
        self.broken = reason
        if self.world is not None:
            self.world.end()

    def close(self) -> None:
        """End it."""
        self._exit_stack.close()


class Slot:
    """The world that a slot plays; and one beside it, which is where it goes back to before that is asked for.

    That is begun once a moment was gone back to twice in a row, as that of a reset. Blocking; ``close`` ends both.
    """

    def __init__(self, play: Play, slot: int) -> None:
        self.origin = play
        self._slot = slot
        self._played: Stepped | None = play if slot == OWN_SLOT else None
        self._beside: Stepped | None = None
        self._last: KeptPlay | None = None
        self._ahead: KeptPlay | None = None
        self._coming: threading.Thread | None = None

    def go_back(self, kept: KeptPlay, episode_id: int) -> Stepped:
        """Return what is at a moment now, in this episode; raise Broken if nothing can be."""
        self._await_beside()
        if self._ahead is kept and self._beside is not None and self._beside.broken is None:
            self._played, self._beside = self._beside, self._played
            self._played.go_on(kept, episode_id)
        elif self._played is None or not self._has_gone_back(self._played, kept, episode_id):
            # One that was closed must not be gone back in, where no other can be made.
            left, self._played = self._played, None
            _close(left)
            self._played = self.origin.copy(self._slot, kept, episode_id)
        self._played.show_screen()
        again, self._last, self._ahead = self._last is kept, kept, None
        if again and kept.moment.plan.alone is None:
            self._coming = threading.Thread(target=self._prepare, args=(kept, episode_id), name="ahead", daemon=True)
            self._coming.start()
        return self._played

    def close(self) -> None:
        self._await_beside()
        for each in (self._played, self._beside):
            _close(each)
        self._played = self._beside = None

    def _has_gone_back(self, played: Stepped, kept: KeptPlay, episode_id: int) -> bool:
        try:
            played.go_back(kept, episode_id)
        except Broken as error:
            # What is lost of it another one has anew.
            log.warning("slot %s: %s", self._slot, error)
            return False
        return True

    def _prepare(self, kept: KeptPlay, episode_id: int) -> None:
        try:
            if self._beside is None:
                self._beside = self.origin.copy(self._slot, kept, episode_id)
            else:
                self._beside.return_to(kept)
        except Broken as error:
            log.warning("slot %s, ahead: %s", self._slot, error)
            _close(self._beside)
            self._beside = None
        else:
            self._ahead = kept

    def _await_beside(self) -> None:
        if self._coming is not None:
            self._coming.join()
            self._coming = None


def _close(world: Stepped | None) -> None:
    """End a world, unless it is a play's own, which goes on."""
    if isinstance(world, Copy):
        world.close()
