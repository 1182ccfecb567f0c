"""What a scraper does, asked by the daemon: it leads programs to episodes and reports these."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, Final

from pluriverse_protocol.errors import LocalProtocolError
from pluriverse_protocol.reports import Done, Frame, Readings, Ready, Reset

from pluriverse_server.episode import TIME_LIMIT
from pluriverse_server.manifest.draft import drop_sources, missing_pictures
from pluriverse_server.manifest.game import GameTables
from pluriverse_server.manifest.runtime import EnvTable, Manifest

from .link import Link
from .play import Broken, Plan, Play
from .source_reader import Cycle, changed
from .spares import Spares
from .stage import Stage

log = logging.getLogger(__name__)

# How often all readings are told, also those that haven't changed.
TELL_ALL_S: Final = 0.2

# A program writes the end of its game and ends; so long after its end it is still looked at what it has written.
LAST_LOOK_S: Final = 0.25


class Session:
    """The plays of a runtime, one episode after the other."""

    def __init__(
        self,
        directory: Path,
        manifest: Manifest,
        catalogue: Mapping[str, EnvTable],
        stage: Stage,
        link: Link,
        *,
        draft: bool = False,
    ) -> None:
        """``draft``: go on without the sources whose pictures aren't there yet."""
        self._draft = draft
        self._directory = directory
        self._manifest = manifest
        self._catalogue = catalogue
        self._stage = stage
        self._link = link
        self._play: Play | None = None
        self._spares: Spares | None = None
        self._spared: Plan | None = None
        self._episode = 0
        self._told: dict[str, dict[str, Any]] = {}
        self._all_told_at = 0.0
        self._stopping: set[asyncio.Task[None]] = set()

    async def episode(self, reset: Reset) -> None:
        """Lead a program to an episode and report it to its end.

        Raises:
            Broken: no episode can be begun.
        """
        self._episode = reset.episode
        game = self._game(reset.env)
        plan = Plan(self._directory, game, self._catalogue[reset.env], reset.seed, reset.fps)
        play = await self._prepared(plan)
        first = play.begin(reset.episode)
        self._link.send(Ready(reset.episode, reset.fps, picture=_box(game.episode.picture)))
        if self._spares is not None:
            self._spares.fill()
        try:
            self._link.send(*first)
            await self._follow(play, self._manifest.environment(plan.entry).time_limit_s)
        except LocalProtocolError as error:
            self._cut(play, f"what was read can't be told: {error}")
        if play.child.has_lost_keeper:
            raise Broken("the program has killed the process that keeps it")

    def _game(self, env_id: str) -> GameTables:
        game = self._manifest.game(env_id)
        missing = missing_pictures(game, self._directory) if self._draft else {}
        if missing:
            log.warning("a draft: nothing is read of %s", ", ".join(f"{name} ({missing[name]})" for name in missing))
        return drop_sources(game, frozenset(missing))

    async def close(self) -> None:
        """End everything."""
        await self._close_spares()
        await self._stage.clear()

    # ── to an episode ───────────────────────────────────────────────────────────────────────────────────────────────

    async def _prepared(self, plan: Plan) -> Play:
        """A play whose episode is ready and shown; the one before has ended, or will."""
        if plan.game.reset.spares:
            return await self._swapped(plan)
        await self._close_spares()
        if plan.game.reset.by == "keys" and await self._led_again(plan):
            assert self._play is not None
            return self._play
        await self._end_play()
        return await self._make(plan, current=True)

    async def _led_again(self, plan: Plan) -> bool:
        play = self._play
        if play is None or play.is_stopping or play.has_ended or not play.plan.suits(plan):
            return False
        try:
            await play.lead(*plan.game.reset.steps)
        except Broken as error:
            log.warning("%s; starting the program again", error)
            return False
        return True

    async def _swapped(self, plan: Plan) -> Play:
        if self._spares is None or self._spared is None or not self._spared.suits(plan):
            await self._close_spares()
            self._spared = plan
            self._spares = Spares(plan.game.reset.spares, lambda gently: self._make(plan, gently=gently))
        play = await self._spares.take()
        before, self._play = self._play, play
        try:
            await play.show()
        finally:
            # Also where this is cancelled: nobody else remembers it.
            if before is not None:
                self._go_on(before.stop())
        return play

    async def _close_spares(self) -> None:
        spares, self._spares = self._spares, None
        if spares is not None:
            await asyncio.shield(self._go_on(spares.close()))

    def _go_on(self, ending: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """End something, also if whoever wanted that is cancelled."""
        task = asyncio.create_task(ending, name="play's end")
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)
        return task

    async def _make(self, plan: Plan, *, gently: bool = False, current: bool = False) -> Play:
        play = await Play.start(plan, self._stage, self._led, gently=gently)
        if current:
            self._play = play
        try:
            await play.prepare()
        except BaseException as error:
            if isinstance(error, Broken):
                self._log_last_words(play)
            await play.stop()
            raise
        return play

    async def _end_play(self) -> None:
        if self._play is not None:
            # Remembered till then: whoever is asked next, if this is cancelled, waits for its end too.
            await self._play.stop()
            self._play = None

    def _led(self, play: Play, cycle: Cycle) -> None:
        """People see what is read on the way to an episode too."""
        if play is self._play:
            self._show(cycle)

    # ── an episode ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def _follow(self, play: Play, limit_s: float | None) -> None:
        """Report an episode until it is over, at the latest after ``limit_s`` seconds.

        The daemon looks to that limit too, but can't know what an episode that is cut there has yet to give.
        """
        loop = asyncio.get_running_loop()
        over_at = loop.time() + limit_s if limit_s is not None else math.inf
        ended_at: float | None = None
        while True:
            try:
                cycle = await play.cycle()
            except Broken as error:
                self._cut(play, str(error))
                return
            reports = play.rules.feed(cycle.at, cycle.readings)
            if play.has_ended:
                ended_at = ended_at or cycle.at
                if cycle.at - ended_at > LAST_LOOK_S:
                    reports += play.rules.cut(cycle.at, f"the program ended: {play.child.describe_end()}")
            if loop.time() >= over_at:
                reports += play.rules.cut(cycle.at, TIME_LIMIT)
            frame = Frame(self._episode, play.pace.frames, play.pace.late_frames, cycle.at)
            self._show(cycle)
            self._link.send(*reports, frame)
            if any(isinstance(report, Done) for report in reports):
                if play.has_ended:
                    self._log_last_words(play)
                return

    def _cut(self, play: Play, reason: str) -> None:
        self._log_last_words(play)
        self._link.send(*play.rules.cut(time.time(), reason))
        play.break_off(reason)

    def _show(self, cycle: Cycle) -> None:
        """Tell what is new among the readings. They are for people: one that can't be told takes no reward with it."""
        if cycle.at - self._all_told_at >= TELL_ALL_S:
            self._told.clear()
            self._all_told_at = cycle.at
        news = changed(cycle, self._told)
        if not news:
            return
        try:
            self._link.send(Readings(self._episode, news, cycle.at, round(cycle.seconds * 1000, 3)))
        except LocalProtocolError as error:
            log.debug("what was read can't be told: %s", error)

    @staticmethod
    def _log_last_words(play: Play) -> None:
        if words := play.child.output_tail:
            log.warning("the program said last:\n    %s", words.replace("\n", "\n    "))


def _box(region: list[int] | None) -> tuple[int, int, int, int] | None:
    if region is None:
        return None
    x, y, width, height = region
    return x, y, width, height
