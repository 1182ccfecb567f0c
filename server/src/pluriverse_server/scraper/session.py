"""Leads programs to the episodes that the daemon requests, and reports these."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from pluriverse_protocol.errors import LocalProtocolError
from pluriverse_protocol.events import JoystickEvent
from pluriverse_protocol.reports import (
    TIME_LIMIT,
    Done,
    Frame,
    Joystick,
    Readings,
    Ready,
    Report,
    Reset,
    Submit,
)

from pluriverse_server.display import AsyncInitialState, DisplayLost
from pluriverse_server.kit.lockstep import Kept, StepFailed
from pluriverse_server.kit.slots import Shared, Slots
from pluriverse_server.manifest.draft import drop_sources, missing_pictures
from pluriverse_server.manifest.game import GameTables
from pluriverse_server.manifest.runtime import EnvTable, Manifest
from pluriverse_server.sources.trees import Box, NoTree, Tree
from pluriverse_server.tasks import start_task

from .daemon_connection import DaemonConnection
from .descriptors import NotKept
from .lockstep import ScrapedSteps
from .mirror import OWN_SLOT
from .play import Play, PlaySettings, SharedDesktop
from .player import Broken
from .source_reader import Cycle, changed
from .spares import Spares
from .step_channels import StepChannels
from .stepped import KeptPlay, Slot, Stepped

log = logging.getLogger(__name__)

# How often all readings are reported, including unchanged ones.
REPORT_ALL_S: Final = 0.2

# How many programs of other seeds wait to be gone back to. Each takes some ten megabytes.
ASIDE: Final = 4

# How long an ended program's sources are still read: it may write the end of its game just before its own.
LAST_LOOK_S: Final = 0.25


@dataclass(frozen=True, slots=True)
class _Beginning:
    """Where episodes of such settings begin: a moment of a play, which may have been started with others since."""

    settings: PlaySettings
    play: Play
    kept: KeptPlay


class Session:
    def __init__(
        self,
        directory: Path,
        manifest: Manifest,
        catalogue: Mapping[str, EnvTable],
        desktop: SharedDesktop,
        daemon: DaemonConnection,
        *,
        draft: bool = False,
    ) -> None:
        """``draft``: leave out the sources whose pictures don't exist yet."""
        self._draft = draft
        self._directory = directory
        self._manifest = manifest
        self._catalogue = catalogue
        self._desktop = desktop
        self._daemon = daemon
        self._play: Play | None = None
        # Those of which only moments are left, the longest unused first; and where episodes begin, the oldest first.
        self._aside: list[Play] = []
        self._ready: list[_Beginning] = []
        self._spares: Spares | None = None
        self._spare_settings: PlaySettings | None = None
        self._episode = 0
        # The last one whose agent said that it is done.
        self._submitted = -1
        self._loop = asyncio.get_running_loop()
        # What plays in the slots, also in that of the remote's own environment; and held while a program is started.
        self._slots: dict[int, Slot] = {}
        self._starting = asyncio.Lock()
        shared = Shared(self._copy_to, self._leave)
        self._step_channels = StepChannels(slots=Slots(self._begin_copy, daemon.send, shared))
        self._state: AsyncInitialState | None = None
        self._reported: dict[str, dict[str, Any]] = {}
        self._all_reported_at = 0.0
        self._stopping: set[asyncio.Task[None]] = set()

    async def episode(self, reset: Reset) -> None:
        """Lead a program to an episode and report it to its end; raise Broken if no episode can begin."""
        self._episode = reset.episode
        game = self._game(reset.env)
        entry = self._catalogue[reset.env]
        lockstep = reset.clock == "lockstep"
        settings = PlaySettings(self._directory, game, entry, reset.seed, reset.fps, reset.options, lockstep, reset)
        await self._step_channels.begin(None)
        self._step_channels.asked(reset)
        async with self._starting:
            stepped = await self._prepared(settings)
        play = stepped.origin
        first = stepped.begin(reset.episode, settings)
        picture = game.episode.picture
        box = (picture[0], picture[1], picture[2], picture[3]) if picture is not None else None
        info = {"lockstep": "frozen"} if lockstep and play.is_frozen else None
        said = replace(play.said_ready or Ready(reset.episode), fps=reset.fps, joystick=settings.program.pads > 0)
        self._daemon.send(replace(said, picture=box or said.picture, info=info or said.info))
        if self._spares is not None:
            self._spares.fill()
        try:
            self._daemon.send(*first)
            if lockstep:
                await self._step(stepped, reset, first)
            else:
                await self._follow(play, self._manifest.environment(settings.entry).time_limit_s)
        except LocalProtocolError as error:
            self._cut(play, f"the readings can't be sent: {error}")
        play = self._play or play
        if play.child.has_lost_keeper:
            raise Broken("the program killed its supervisor")
        if play.stuck is not None:
            # A process of its own is all that ends what runs in a thread: this one is replaced.
            raise Broken(play.stuck)

    async def tree(self, picture: Box) -> Tree:
        if self._play is None:
            raise NoTree("no program runs at the moment")
        return await self._play.tree(picture)

    def show(self, world: int) -> None:
        if self._desktop.screens is not None:
            self._desktop.screens.show(world)

    def watch(self, watched: bool) -> None:
        if self._desktop.screens is not None:
            self._desktop.screens.watched = watched

    def tilt(self, joystick: Joystick) -> None:
        if (play := self._play) is not None and play.pads is not None:
            play.pads.apply([JoystickEvent(joystick.event, joystick.value)], play.pace.now())

    def submit(self, submit: Submit) -> None:
        self._submitted = submit.episode

    async def close(self) -> None:
        self._step_channels.close()
        self._leave(OWN_SLOT)
        await self._close_spares()
        await self._desktop.clear()
        if self._state is not None:
            await self._state.close()

    def _game(self, env_id: str) -> GameTables:
        game = self._manifest.game(env_id)
        missing = missing_pictures(game, self._directory) if self._draft else {}
        if missing:
            log.warning("draft: not reading %s", ", ".join(f"{name} ({missing[name]})" for name in missing))
        return drop_sources(game, frozenset(missing))

    async def _prepared(self, settings: PlaySettings) -> Stepped:
        """Return a visible play, or a world of it, whose episode is ready; the previous play has ended, or will."""
        if settings.game.reset.spares and not settings.lockstep:
            return await self._swapped(settings)
        await self._close_spares()
        if settings.lockstep and (stepped := self._began_again(settings)) is not None:
            return stepped
        # What was played before would show in an episode, whose seed is the program's beginning.
        goes_on = settings.game.reset.by in ("keys", "report")
        if goes_on and not settings.lockstep and await self._led_again(settings):
            assert self._play is not None
            return self._play
        if self._play is not None and not self._set_aside(self._play):
            # Kept until it has ended: if this call is cancelled, the next one waits for the end too.
            await self._play.stop()
        self._play = None
        state = await self._screen_state()
        await state.restore_screen()
        play = await self._make(settings, current=True)
        if goes_on:
            await state.keep()
        if settings.lockstep:
            self._keep_ready(play)
        return play

    def _keep_ready(self, play: Play) -> _Beginning | None:
        """Keep the moment in which episodes of the play's settings begin, and forget the oldest; return it."""
        try:
            beginning = _Beginning(play.settings, play, play.keep())
        except NotKept as error:
            log.info("episodes begin with a new program each: %s", error)
            return None
        self._ready.append(beginning)
        older = [each for each in self._ready if each.play is play][: -ASIDE - 1]
        for each in older:
            self._ready.remove(each)
            each.kept.moment.close()
        return beginning

    def _forget(self, play: Play) -> None:
        self._ready = [each for each in self._ready if each.play is not play]

    def _began_again(self, settings: PlaySettings) -> Stepped | None:
        """Go back to where an episode of such settings began before, if there is one; return what is there."""
        if (found := self._found_ready(settings)) is None:
            return None
        try:
            stepped = self._at(OWN_SLOT, found.play, found.kept, self._episode)
        except Broken as error:
            log.warning("%s; starting the program again", error)
            self._forget(found.play)
            return None
        self._reported.clear()
        self._on_cycle(found.play, found.kept.last)
        return stepped

    def _found_ready(self, settings: PlaySettings) -> _Beginning | None:
        """Return where episodes of such settings begin."""
        begins = (each for each in self._ready if not each.play.is_stopping and each.settings.begins_as(settings))
        return next(begins, None)

    def _switch(self, play: Play) -> None:
        """Go on with this play, and set the one before aside."""
        before = self._play
        if before is play:
            return
        if play in self._aside:
            self._aside.remove(play)
        self._play = play
        if before is not None and not self._set_aside(before):
            self._stop_later(before.stop())

    def _set_aside(self, play: Play) -> bool:
        """Leave nothing of a play but its moments; return whether it has any. The longest unused is stopped."""
        if (own := self._slots.get(OWN_SLOT)) is not None and own.origin is play:
            self._leave(OWN_SLOT)
        if play.is_stopping or play.child.has_lost_keeper or play.stuck is not None or not play.go_aside():
            self._forget(play)
            return False
        self._aside.append(play)
        played = {slot.origin for slot in self._slots.values()}
        # Snapshots stay, also where their program hasn't been played for long.
        unused = [each for each in self._aside if each not in played and each.moments == self._beginnings(each)]
        for oldest in unused[: max(0, len(unused) - ASIDE)]:
            self._aside.remove(oldest)
            self._forget(oldest)
            self._stop_later(oldest.stop())
        return True

    def _beginnings(self, play: Play) -> int:
        """Return how many moments of a play are kept of no agent's."""
        return (play.before is not None) + sum(each.play is play for each in self._ready)

    # ── slots: each is a copy of a program's world, played in a thread ──────────────────────────────────────────────

    def _begin_copy(self, slot: int, reset: Reset) -> ScrapedSteps:
        entry = self._catalogue[reset.env]
        game = self._game(reset.env)
        settings = PlaySettings(self._directory, game, entry, reset.seed, reset.fps, reset.options, True, reset)
        try:
            found = asyncio.run_coroutine_threadsafe(self._begun(settings), self._loop).result()
            copy = self._at(slot, found.play, found.kept, reset.episode)
        except Broken as error:
            raise StepFailed(str(error)) from error
        steps = ScrapedSteps(copy, reset, partial(self._at, slot))
        steps.hear(*copy.begin(reset.episode, settings))
        # What is earned by then is no step's.
        steps.take()
        return steps

    def _copy_to(self, slot: int, reset: Reset, kept: Kept) -> ScrapedSteps:
        try:
            return ScrapedSteps.at(kept, reset, partial(self._at, slot))
        except ValueError as error:
            raise StepFailed(str(error)) from error

    def _at(self, slot: int, play: Play, kept: KeptPlay, episode_id: int) -> Stepped:
        """Return what is at a moment of a play now, in a slot; raise Broken. Blocking."""
        if slot == OWN_SLOT:
            self._switch(play)
        if slot not in self._slots or self._slots[slot].origin is not play:
            self._leave(slot)
            self._slots[slot] = Slot(play, slot)
        return self._slots[slot].go_back(kept, episode_id)

    def _leave(self, slot: int) -> None:
        if (left := self._slots.pop(slot, None)) is not None:
            left.close()

    async def _begun(self, settings: PlaySettings) -> _Beginning:
        """Return where episodes of such settings begin, of a program that was started before, or is now."""
        async with self._starting:
            if (found := self._found_ready(settings)) is not None:
                return found
            play = await self._make(settings, background=True)
            beginning = self._keep_ready(play)
            if beginning is None or not self._set_aside(play):
                self._stop_later(play.stop())
                raise Broken("its episodes can't be begun from a snapshot")
            return beginning

    async def _screen_state(self) -> AsyncInitialState:
        """Return that of the screen, as it is before the first program's start."""
        if self._state is None:
            try:
                self._state = await AsyncInitialState.open(self._desktop.screen["DISPLAY"], self._desktop.cookies.path)
            except DisplayLost as error:
                raise Broken(str(error)) from error
        return self._state

    async def _led_again(self, settings: PlaySettings) -> bool:
        play = self._play
        if play is None or play.is_stopping or play.has_ended or not play.settings.suits(settings):
            return False
        await (await self._screen_state()).restore()
        try:
            await play.lead(*settings.game.reset.steps, reset=settings.reset)
        except Broken as error:
            log.warning("%s; starting the program again", error)
            return False
        return True

    async def _swapped(self, settings: PlaySettings) -> Play:
        if self._spares is None or self._spare_settings is None or not self._spare_settings.suits(settings):
            await self._close_spares()
            self._spare_settings = settings
            self._spares = Spares(
                settings.game.reset.spares, lambda background: self._make(settings, background=background)
            )
        play = await self._spares.take()
        before, self._play = self._play, play
        try:
            await play.show()
        finally:
            # Even if this is cancelled: nothing else refers to it.
            if before is not None:
                self._stop_later(before.stop())
        return play

    async def _close_spares(self) -> None:
        spares, self._spares = self._spares, None
        if spares is not None:
            await asyncio.shield(self._stop_later(spares.close()))

    def _stop_later(self, ending: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run ``ending`` to its end, even if the caller is cancelled."""
        task = start_task(ending, "play's end")
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)
        return task

    async def _make(self, settings: PlaySettings, *, background: bool = False, current: bool = False) -> Play:
        play = self._take_before(settings)
        if play is None:
            play = await Play.start(settings, self._desktop, self._on_cycle, background=background)
        if not background:
            play.show_screen()
        if current:
            self._play = play
        try:
            await play.prepare(settings)
        except BaseException as error:
            if isinstance(error, Broken):
                _log_output_tail(play)
            # What only had to make way for another begins as well as ever.
            if not isinstance(error, asyncio.CancelledError) or not self._set_aside(play):
                self._forget(play)
                await play.stop()
            elif current:
                self._play = None
            raise
        return play

    def _take_before(self, settings: PlaySettings) -> Play | None:
        """Return a play that is set aside, and can go back to before such a program's start."""
        for play in self._aside:
            if play.before is not None and not play.is_stopping and settings.starts_from(play.settings):
                self._aside.remove(play)
                return play
        return None

    def _on_cycle(self, play: Play, cycle: Cycle) -> None:
        """Report readings before an episode too: people watch them."""
        if play is self._play:
            self._report_readings(cycle)
            self._hear(play)

    async def _follow(self, play: Play, limit_s: float | None) -> None:
        """Report an episode until it is over, at the latest after ``limit_s`` seconds.

        The daemon checks that limit too, but can't know what an episode that is cut there still earns.
        """
        loop = asyncio.get_running_loop()
        over_at = loop.time() + limit_s if limit_s is not None else math.inf
        ended_at: float | None = None
        while True:
            if self._submitted == self._episode:
                # What is read from now on is as it was then, or later.
                play.rules.submit(time.time())
            try:
                cycle = await play.cycle()
            except Broken as error:
                self._cut(play, str(error))
                return
            reports = play.heard() + play.rules.feed(cycle.at, cycle.readings)
            if play.has_ended:
                ended_at = ended_at or cycle.at
                if cycle.at - ended_at > LAST_LOOK_S:
                    reports += play.rules.cut(cycle.at, f"the program ended: {play.child.describe_end()}{play.refused}")
            if loop.time() >= over_at:
                reports += play.rules.cut(cycle.at, TIME_LIMIT)
            self._hear(play)
            frame = Frame(self._episode, play.pace.frames, play.pace.late_frames, cycle.at)
            self._report_readings(cycle)
            self._daemon.send(*reports, frame)
            if any(isinstance(report, Done) for report in reports):
                if play.has_ended:
                    _log_output_tail(play)
                return

    async def _step(self, stepped: Stepped, reset: Reset, first: Sequence[Report]) -> None:
        episode = ScrapedSteps(stepped, reset, partial(self._at, OWN_SLOT), self._report_step)
        episode.hear(*first)
        # What is earned by then was reported, and is no step's.
        episode.take()
        await self._step_channels.begin(episode)
        await episode.ended.wait()
        if self._play is not None and self._play.has_ended:
            _log_output_tail(self._play)

    def _hear(self, play: Play) -> None:
        """Have people hear what was played since the last cycle in real time."""
        if self._desktop.sound is not None and play.card is not None and not play.settings.lockstep:
            self._desktop.sound.put(play.card.take())

    def _report_step(self, cycle: Cycle, reports: Sequence[Report], sound: NDArray[np.int16]) -> None:
        if self._desktop.sound is not None:
            self._desktop.sound.put(sound)
        # People see no more readings than frames; each costs the daemon a turn.
        if reports:
            self._report_readings(cycle)
            self._daemon.send(*reports)

    def _cut(self, play: Play, reason: str) -> None:
        _log_output_tail(play)
        self._daemon.send(*play.rules.cut(time.time(), reason, failed=True))
        play.break_off(reason)

    def _report_readings(self, cycle: Cycle) -> None:
        """Report changed readings. They are for people: if they can't be sent, the rewards still are."""
        # It may have gone back.
        if not 0 <= cycle.at - self._all_reported_at < REPORT_ALL_S:
            self._reported.clear()
            self._all_reported_at = cycle.at
        changes = changed(cycle, self._reported)
        if not changes:
            return
        try:
            self._daemon.send(Readings(self._episode, changes, cycle.at, round(cycle.seconds * 1000, 3)))
        except LocalProtocolError as error:
            log.debug("the readings can't be sent: %s", error)


def _log_output_tail(play: Play) -> None:
    if tail := play.child.output_tail:
        log.warning("the program's last output:\n    %s", tail.replace("\n", "\n    "))
