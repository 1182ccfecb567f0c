"""Leads a page in a browser to the episodes that the daemon requests, and reports its state from DevTools."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from pluriverse_protocol.reports import EVIDENCE, Cause, Done, Joystick, Lost, Ready, Report, Reset, Submit, Text

from pluriverse_server.display import AsyncInitialState, DisplayLost
from pluriverse_server.kit.lockstep import SlotsBeside
from pluriverse_server.manifest.page import origin_of
from pluriverse_server.manifest.runtime import EnvTable, Manifest, ManifestError
from pluriverse_server.manifest.sources import MAX_COORDINATE
from pluriverse_server.process import OutOfResources, StartError
from pluriverse_server.programs.pages import page_address, page_script
from pluriverse_server.sources.page.clock import ClockScript
from pluriverse_server.sources.page.devtools import CallTimedOut, ConnectionLost, DevToolsError
from pluriverse_server.sources.page.files import ORIGIN, Files
from pluriverse_server.sources.page.messages import BadValue, Scores, read
from pluriverse_server.sources.page.page import Outline, Page, PageError
from pluriverse_server.sources.page.watcher import Watcher, episode
from pluriverse_server.sources.reading import SourceError
from pluriverse_server.sources.rules import CHECK_S
from pluriverse_server.sources.screen.grab import ScreenLost
from pluriverse_server.sources.task import Assignment, picture_of
from pluriverse_server.sources.trees import TREE_S, Box, NoTree, Tree
from pluriverse_server.task import Look, TaskError
from pluriverse_server.tasks import call_later, start_task

from .page_browser import PageBrowser
from .page_clock import PageClock, Place, Stuck, WholeScreen
from .page_steps import PageSteps
from .step_channels import StepChannels

log = logging.getLogger(__name__)

# The folder of what a page's server keeps, and of its task.
HOME: Final = "home"

# The folder of the browser's profile. One letter: the browser creates Unix sockets below it, whose paths are limited.
FOLDER: Final = "b"

# How often a page is checked, and how long it may take to answer while its browser has a CPU: on a quiet machine a page
# that hangs is replaced within four seconds.
CHECK_EVERY_S: Final = 0.5
CHECK_TIMEOUT_S: Final = 3.0

# A flag limits scripts' memory to half of this, but not that of pictures, sounds and WebAssembly.
MAX_PAGE_BYTES: Final = 1024**3

# How long to wait before loading a page again that failed at once.
RETRY_S: Final = 0.5

# How many pages wait for an episode of theirs, each in some 28 MB.
LOADED: Final = 3

# A watcher sends a message a frame, and whenever the page pushes: four times the fastest screens' rate.
MAX_MESSAGES_PER_S: Final = 1000

# The page's clock is this machine's; a message is never older than this when it arrives.
MAX_LATE_S: Final = 1.0


class Daemon(Protocol):
    """Who hears of episodes."""

    def send(self, *reports: Report) -> None:
        """Tell it."""
        ...


class PagesBeside(SlotsBeside, Protocol):
    """What plays beside it."""

    async def close(self) -> None:
        """End all of it."""
        ...


class Channel(Protocol):
    """Where steps come from; see ``StepChannels``."""

    @property
    def turn(self) -> asyncio.Lock:
        """Held while a page goes on."""
        ...

    def asked(self, reset: Reset) -> None:
        """Note which episode is wanted."""
        ...

    async def begin(self, episode: PageSteps | None) -> None:
        """Play this episode; None: in real time."""
        ...

    def close(self) -> None:
        """Hang up."""
        ...


class Stage(Protocol):
    """What a session plays on: all of a screen with a browser of its own, or a part of one with others."""

    browser: PageBrowser
    files: Files | None
    at: tuple[int, int] | None
    """Its part's corner; None: it is all of it."""
    proxy: str | None

    @property
    def channel(self) -> Channel:
        """Where its steps come from."""
        ...

    async def place(self) -> Place:
        """Return where a page is shown and acted in, in lockstep."""
        ...

    def picture(self) -> NDArray[np.uint8]:
        """Return what is to be seen now: RGB. Blocking."""
        ...

    async def page_bytes(self) -> int:
        """Return how much memory the largest page takes, 0 if that isn't known."""
        ...

    async def end(self) -> None:
        """End the browser, if it is its own."""
        ...

    async def leave(self) -> None:
        """Let go of everything."""
        ...


class WholeStage:
    """A ``Stage`` of the screen that ``screen`` names (DISPLAY and XAUTHORITY)."""

    at: tuple[int, int] | None = None
    proxy: str | None = None

    def __init__(
        self,
        manifest: Manifest,
        files: Files | None,
        screen: Mapping[str, str],
        state: AsyncInitialState,
        folder: Path,
        slots: PagesBeside | None,
    ) -> None:
        """``state`` is the screen's as it was before the first browser; ``folder`` is for files of the browser."""
        self.files = files
        self.browser: PageBrowser = PageBrowser(manifest, files, screen, folder / FOLDER, state)
        self.channel: Channel = StepChannels(waits=True, slots=slots)
        self._slots = slots
        self._state = state
        self._size = manifest.runtime.screen.width, manifest.runtime.screen.height

    async def place(self) -> Place:
        browser = self.browser.current
        if browser is None:
            raise ConnectionLost("the browser ended")
        return await WholeScreen.open(self.browser.environment, self._size, browser.process.pid, os.getppid())

    def picture(self) -> NDArray[np.uint8]:
        return picture_of(self.browser.environment["DISPLAY"])

    async def page_bytes(self) -> int:
        browser = self.browser.current
        try:
            return 0 if browser is None else await browser.page_bytes()
        except CallTimedOut:
            # It isn't the page's fault.
            return 0

    async def end(self) -> None:
        await self.browser.stop()

    async def leave(self) -> None:
        if self._slots is not None:
            await self._slots.close()
        await self._state.close()


class PageSession:
    """A runtime's page on a stage."""

    def __init__(
        self,
        directory: Path,
        manifest: Manifest,
        catalogue: Mapping[str, EnvTable],
        stage: Stage,
        folder: Path,
        daemon: Daemon,
    ) -> None:
        """``folder`` is for what the page's server and task keep."""
        assert manifest.page is not None
        self._table = manifest.page
        self._manifest = manifest
        self._catalogue = catalogue
        self._stage = stage
        self._browser = stage.browser
        self._browser.users.append(self)
        self._daemon = daemon
        self._directory = directory
        self._files = stage.files
        self._home = folder / HOME
        self._assignment: Assignment | None = None
        self._outline = self._make_outline(page_script(directory, self._table))
        self._compiled = False
        self._page: Page | None = None
        # In lockstep: those in which episodes of other addresses can begin, the longest unused first.
        self._loaded: dict[str, Page] = {}
        # In lockstep the page has a clock, and its episode is stepped on step channels.
        self._clock: PageClock | None = None
        self._stepped: PageSteps | None = None
        self._channel = stage.channel
        self._wanted: Reset | None = None
        self._scores = Scores(manifest.rewards)
        self._deadline: asyncio.TimerHandle | None = None
        self._lost_at = self._not_before = -RETRY_S
        self._work = asyncio.Event()
        self._messages = (0, 0)  # the second of the loop's clock, and how many came within it
        self._tasks = [start_task(self._keep(), "page"), start_task(self._watch(), "page: checks")]

    async def start(self) -> None:
        """Serve the files; the browser is started by the first episode."""
        if self._files is not None:
            await self._files.start()

    def show(self, world: int) -> None:
        """There is one world alone."""

    def watch(self, watched: bool) -> None:
        """The browser is on that screen itself."""

    def tilt(self, joystick: Joystick) -> None:
        """Pages have no gamepads."""

    def submit(self, submit: Submit) -> None:
        if (reset := self._wanted) is not None and submit.episode == reset.episode:
            start_task(self._submit(reset), "page: its last look")

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._channel.close()
        self._clear_deadline()
        await self._end_browser()
        if self._files is not None:
            await self._files.stop()
        self._browser.users.remove(self)
        await self._stage.leave()

    async def episode(self, reset: Reset) -> None:
        """Begin an episode, once the beginning of the one before, which can't be broken off, has come to its end."""
        self._wanted = reset
        self._clear_deadline()
        self._scores = Scores(self._manifest.rewards)
        self._channel.asked(reset)
        self._work.set()

    async def tree(self, picture: Box) -> Tree:
        """Return what is to be seen of the page within ``picture``; in lockstep between two steps."""
        page = self._page
        if page is None:
            raise NoTree("no page is loaded at the moment")
        if not page.stepped:
            return await page.tree(picture)
        try:
            async with asyncio.timeout(TREE_S), self._channel.turn:
                return await page.tree(picture)
        except TimeoutError:
            raise NoTree(f"the page's step did not end within {TREE_S:g} s") from None

    # ── episodes ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _keep(self) -> None:
        begun: Reset | None = None
        while True:
            await self._work.wait()
            self._work.clear()
            reset = self._wanted
            if reset is None or (reset is begun and self._page is not None):
                continue
            begun = reset
            try:
                await self._begin(reset)
            except ConnectionLost:
                # The page was closed, or its browser's process ends as well, which is reported elsewhere.
                continue
            except (DevToolsError, DisplayLost, PageError, ScreenLost, Stuck, TaskError, OSError) as error:
                self._fail(reset, f"page: {error}", "page")
            except ManifestError as error:
                self._fail(reset, str(error), "manifest")
            except StartError as error:
                # Not the page's fault, and the next episode would fail, too.
                self._fail(reset, str(error), "page" if isinstance(error, OutOfResources) else "process")

    async def _begin(self, reset: Reset) -> None:
        await asyncio.sleep(max(0, self._not_before - asyncio.get_running_loop().time()))
        # A step that is under way ends first.
        async with self._channel.turn:
            self._end_steps()
            if not _lockstep(reset):
                await self._channel.begin(None)
            address = self._address(reset)
            if self._clock is not None and _lockstep(reset) and self._table.begin and self._stage.at is None:
                await self._switch(self._clock, address)
            if self._files is not None:
                # What the page before asks for while it ends isn't there any more.
                await self._files.leave_home()
            await asyncio.gather(asyncio.to_thread(self._set_up, reset), self._clear(reset))
            if reset is not self._wanted:
                # The agent has asked for another than that which follows by itself.
                return
            if self._clock is not None:
                self._stepped = self._steps(reset, self._clock)
            if self._files is not None:
                self._files.home = self._home
            page = await self._show(reset, address)
            if _lockstep(reset):
                await self._get_ready(reset, page)

    async def _clear(self, reset: Reset) -> None:
        """Take away what the episode before has left on the screen."""
        await self._browser.restore()
        if self._clock is not None:
            await self._clock.begin(reset.fps)

    def _set_up(self, reset: Reset) -> None:
        """Make a new home for what is kept outside of the page, and set its task up, if it has one. Blocking."""
        task = self._manifest.game(reset.env).task
        if task is None and self._table.serve is None:
            return
        shutil.rmtree(self._home, ignore_errors=True)
        self._home.mkdir()
        self._assignment = None if task is None else Assignment(task, self._directory, reset.env, self._home)
        if self._assignment is not None:
            self._assignment.set_up(reset.seed)

    def _address(self, reset: Reset) -> str:
        entry = self._catalogue[reset.env]
        address = page_address(self._table, entry, seed=reset.seed, fps=reset.fps, options=reset.options)
        if self._files is not None:
            self._files.require(address)
        return address

    async def _switch(self, clock: PageClock, address: str) -> None:
        """Go to the page in which an episode of ``address`` can begin, and leave the one before as it is."""
        page = self._page
        if page is None or page.address in (None, address) or page.strayed:
            return
        loaded = self._loaded.pop(address, None)
        if loaded is None and len(self._loaded) == LOADED:
            oldest = self._loaded.pop(next(iter(self._loaded)))
            if self._table.fresh == "page":
                loaded = oldest
            else:
                oldest.close()
        self._loaded[page.address] = page
        self._page = clock.page = loaded or await self._new_page(lockstep=True)
        await self._page.show()

    async def _show(self, reset: Reset, address: str) -> Page:
        """Show the page in which an episode begins."""
        entry = self._catalogue[reset.env]
        # Pages get the options' values if the table declares them.
        context = episode(reset.episode, reset.seed, {**entry.model_dump(mode="json"), "options": dict(reset.options)})
        if self._page is not None and self._page.stepped != _lockstep(reset):
            await self._end_browser()
        page = self._page
        if page is not None and self._table.begin and page.address == address and not page.strayed:
            self._set_deadline()
            await page.begin(context)
            return page
        if page is None or (self._table.fresh == "context" and page.address is not None):
            page = await self._open_page(lockstep=_lockstep(reset))
        self._set_deadline()
        await page.navigate(address, context)
        return page

    async def _get_ready(self, reset: Reset, page: Page) -> None:
        """Let time pass until the episode's first frame is there, and show it."""
        files, screen = self._files, self._manifest.runtime.screen
        if files is None:
            return
        if self._clock is None:
            size = screen.width, screen.height
            self._clock = PageClock(page, await self._stage.place(), size, files, os.getppid())
            await self._clock.begin(reset.fps)
        clock = self._clock
        stepped = self._stepped = self._stepped or self._steps(reset, clock)
        await clock.start(lambda: stepped.ready or reset is not self._wanted or page is not self._page)
        if stepped.ready and stepped is self._stepped:
            await self._channel.begin(stepped)

    def _steps(self, reset: Reset, clock: PageClock) -> PageSteps:
        return PageSteps(reset, clock, self._report, self._step_failed, partial(self._submit, reset))

    async def _submit(self, reset: Reset) -> None:
        """End the episode as its agent asks for it, after a last look."""
        page = self._page
        try:
            if page is not None and not page.guard.dialog_open:
                await page.check(CHECK_TIMEOUT_S)
        except DevToolsError:
            # It hangs, or was lost, which is reported elsewhere.
            return
        if page is None or reset is not self._wanted or page is not self._page or not self._scores.running:
            return
        end = self._scores.submitted(reset.episode, time.time())
        if self._assignment is not None:
            end = await self._graded(end, self._assignment, page)
            if reset.options.get(EVIDENCE):
                end = replace(end, info=await asyncio.to_thread(self._assignment.evidence))
        self._report(end)

    async def _graded(self, end: Done, assignment: Assignment, page: Page) -> Done:
        """Return the end of a page's task, with its grade; truncated if that can't be had."""
        loop = asyncio.get_running_loop()

        def ask(expression: str) -> Any:
            return asyncio.run_coroutine_threadsafe(page.ask(expression, CHECK_TIMEOUT_S), loop).result()

        def tree() -> Any:
            everything = (0, 0, MAX_COORDINATE, MAX_COORDINATE)
            return asyncio.run_coroutine_threadsafe(page.tree(everything), loop).result().nodes

        look = Look(self._home, self._stage.picture, tree, ask)
        try:
            async with asyncio.timeout(CHECK_S):
                return replace(end, reward=end.reward + await asyncio.to_thread(assignment.check, look))
        except SourceError as error:
            why = str(error)
        except TimeoutError:
            why = f"the check took over {CHECK_S:g} s"
        return replace(end, terminated=False, truncated=True, reason=why)

    def _step_failed(self, stepped: PageSteps, error: Exception) -> None:
        if stepped is self._stepped and not isinstance(error, ConnectionLost):
            self._lose(f"page: {error}")

    async def _open_page(self, *, lockstep: bool) -> Page:
        page = await self._new_page(lockstep=lockstep)
        self._close_page()
        self._page = page
        if not self._compiled:
            await page.require_javascript()
            self._compiled = True
        return page

    async def _new_page(self, *, lockstep: bool) -> Page:
        windows = await self._browser.windows(lockstep=lockstep)
        clock = ClockScript() if lockstep else None
        page: Page = await Page.open(windows, self._outline, lambda payload: self._heard(page, payload), clock)
        if not self._browser.has(windows):
            raise ConnectionLost("the browser ended")
        return page

    def _close_page(self) -> None:
        page, self._page = self._page, None
        clock, self._clock = self._clock, None
        self._end_steps()
        if clock is not None:
            start_task(clock.close(), "page: its clock")
        for each in (*self._loaded.values(), *([page] if page is not None else [])):
            each.close()
        self._loaded.clear()

    def _end_steps(self) -> None:
        """Report the episode's end to the step channel's agent."""
        if self._stepped is not None:
            self._stepped.over, self._stepped = True, None

    async def _end_browser(self) -> None:
        self._close_page()
        await self._stage.end()

    def _fail(self, reset: Reset, reason: str, cause: Cause) -> None:
        if reset is self._wanted:
            self._lose(reason, cause)

    def browser_lost(self, reason: str, cause: Cause) -> None:
        self._lose(reason, cause)

    def _lose(self, reason: str, cause: Cause = "page") -> None:
        self._clear_deadline()
        self._close_page()
        # The first loss is replaced at once.
        self._not_before, self._lost_at = self._lost_at + RETRY_S, asyncio.get_running_loop().time()
        if self._wanted is not None:
            self._daemon.send(Lost(self._wanted.episode, reason, cause))

    # ── messages of the page ─────────────────────────────────────────────────────────────────────────────────────────

    def _heard(self, page: Page, payload: str) -> None:
        reset = self._wanted
        if page is not self._page or reset is None:
            return
        try:
            self._count_message()
            said = read(payload, len(self._manifest.rewards))
        except BadValue as error:
            self._lose(str(error), "message")
            return
        if said.episode != reset.episode:
            return
        if said.fault is not None:
            self._lose(f"page: {said.fault}")
            return
        now = time.time()
        said = replace(said, at=min(max(said.at, now - MAX_LATE_S), now))
        for report in self._scores.reports(said):
            if isinstance(report, Ready):
                self._clear_deadline()
                self._browser.began()
            self._report(report)
            if isinstance(report, Ready) and self._assignment is not None:
                self._report(Text(report.episode, self._assignment.words))

    def _report(self, report: Report) -> None:
        if self._stepped is not None:
            self._stepped.hear(report)
        self._daemon.send(report)

    def _count_message(self) -> None:
        second = int(asyncio.get_running_loop().time())
        self._messages = (second, self._messages[1] + 1 if second == self._messages[0] else 1)
        if self._messages[1] > MAX_MESSAGES_PER_S:
            raise BadValue(f"the page sent more than {MAX_MESSAGES_PER_S} messages within a second")

    def gone(self, target_id: str, reason: str) -> None:
        if self._page is not None and self._page.target_id == target_id:
            self._lose(reason)
        self._loaded = {address: page for address, page in self._loaded.items() if page.target_id != target_id}

    async def _watch(self) -> None:
        """Replace a page that hangs or grows too large, until cancelled."""
        while True:
            await asyncio.sleep(CHECK_EVERY_S)
            page, scores = self._page, self._scores
            if page is None:
                continue
            try:
                if await self._stage.page_bytes() > MAX_PAGE_BYTES and page is self._page:
                    self._lose(f"the page took over {MAX_PAGE_BYTES / 2**30:g} GiB of memory")
                elif not page.guard.dialog_open and not page.stepped:
                    await page.check(CHECK_TIMEOUT_S)
            except CallTimedOut:
                # Before the episode runs, the deadline for getting ready applies instead.
                if scores.running and scores is self._scores and page is self._page:
                    self._lose(f"the page hung: no answer for {CHECK_TIMEOUT_S:g} s")
            except DevToolsError:
                # It was lost meanwhile, which is reported elsewhere.
                continue

    # ── readiness ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _set_deadline(self) -> None:
        self._clear_deadline()
        timeout_s = self._table.ready_timeout_s
        reason = f"page was not ready within {timeout_s:g} s"
        self._deadline = call_later(timeout_s, "page: readiness", self._lose, reason)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _make_outline(self, script: str | None) -> Outline:
        table = self._table
        origin = ORIGIN if table.url is None else origin_of(table.url)
        assert origin is not None
        runtime, size = self._manifest.runtime, self._manifest.runtime.screen
        origins = frozenset((origin, *table.origins))
        # Beside others nothing could click in them.
        watcher = Watcher(self._manifest, menus="menus" in table.allow and self._stage.at is None)
        shown = (table.zoom, runtime.language, runtime.tz, self._stage.at, self._stage.proxy)
        return Outline(size.width, size.height, origins, frozenset(table.allow), watcher, script, *shown)


def _lockstep(reset: Reset) -> bool:
    return reset.clock == "lockstep"
