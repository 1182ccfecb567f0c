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
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec.structs import replace
from pluriverse_protocol.reports import EVIDENCE, Cause, Done, Joystick, Lost, Ready, Report, Reset, Submit, Text

from pluriverse_server.display import AsyncInitialState, DisplayLost
from pluriverse_server.manifest.page import origin_of
from pluriverse_server.manifest.runtime import EnvTable, Manifest, ManifestError
from pluriverse_server.manifest.sources import MAX_COORDINATE
from pluriverse_server.process import OutOfResources, StartError
from pluriverse_server.programs.pages import page_address, page_files, page_script
from pluriverse_server.sources.page.clock import ClockScript
from pluriverse_server.sources.page.devtools import CallTimedOut, ConnectionLost, DevToolsError
from pluriverse_server.sources.page.files import HOST, ORIGIN
from pluriverse_server.sources.page.guard import Windows
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

from .browser import Browser
from .daemon_connection import DaemonConnection
from .page_clock import FLAGS, PREFERENCES, PageClock, Stuck
from .page_steps import PageSteps
from .step_channels import StepChannels

log = logging.getLogger(__name__)

# The folder of what a page's server keeps, and of its task.
HOME: Final = "home"

# The folder of the browser's profile. One letter: the browser creates Unix sockets below it, whose paths are limited.
FOLDER: Final = "b"

# A browser that exits may hang up first; the exit status is more informative.
HANG_UP_GRACE_S: Final = 0.5

# How often a page is checked, and how long it may take to answer while its browser has a CPU: on a quiet machine a page
# that hangs is replaced within four seconds.
CHECK_EVERY_S: Final = 0.5
CHECK_TIMEOUT_S: Final = 3.0

# A flag limits scripts' memory to half of this, but not that of pictures, sounds and WebAssembly.
MAX_PAGE_BYTES: Final = 1024**3

# Names of this machine, where the daemon listens, and whatever else does: pages can't reach them.
LOOPBACK: Final = ("localhost", "*.localhost", "127.*", "[::1]", "0.0.0.0")

# How long to wait before loading a page again that failed at once.
RETRY_S: Final = 0.5

# How many pages wait for an episode of theirs, each in some 28 MB.
LOADED: Final = 3

# A watcher sends a message a frame, and whenever the page pushes: four times the fastest screens' rate.
MAX_MESSAGES_PER_S: Final = 1000

# The page's clock is this machine's; a message is never older than this when it arrives.
MAX_LATE_S: Final = 1.0


class PageSession:
    """A runtime's page on the screen that ``screen`` names (DISPLAY and XAUTHORITY)."""

    def __init__(
        self,
        directory: Path,
        manifest: Manifest,
        catalogue: Mapping[str, EnvTable],
        screen: Mapping[str, str],
        state: AsyncInitialState,
        folder: Path,
        daemon: DaemonConnection,
    ) -> None:
        """``state`` is the screen's as it was before the first browser; ``folder`` is for files of the browser."""
        assert manifest.page is not None
        self._table = manifest.page
        self._manifest = manifest
        self._catalogue = catalogue
        self._environment = {**screen, **manifest.runtime.locale}
        self._state = state
        self._daemon = daemon
        self._directory = directory
        served = self._table.files
        self._files = page_files(directory, self._table, served) if served is not None else None
        self._folder = folder / FOLDER
        self._home = folder / HOME
        self._assignment: Assignment | None = None
        self._browser: Browser | None = None
        self._windows: Windows | None = None
        self._ending: asyncio.Task[None] | None = None  # of a browser that is no more this one
        # The browser whose start is in the screen's state.
        self._kept: Browser | None = None
        self._outline = self._make_outline(page_script(directory, self._table))
        self._compiled = False
        self._page: Page | None = None
        # In lockstep: those in which episodes of other addresses can begin, the longest unused first.
        self._loaded: dict[str, Page] = {}
        # In lockstep the page has a clock, and its episode is stepped on step channels.
        self._clock: PageClock | None = None
        self._stepped: PageSteps | None = None
        self._step_channels = StepChannels(waits=True)
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

    def tilt(self, joystick: Joystick) -> None:
        """Pages have no gamepads."""

    def submit(self, submit: Submit) -> None:
        if (reset := self._wanted) is not None and submit.episode == reset.episode:
            start_task(self._submit(reset), "page: its last look")

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._step_channels.close()
        self._clear_deadline()
        await self._end_browser()
        if self._files is not None:
            await self._files.stop()
        await self._state.close()

    async def episode(self, reset: Reset) -> None:
        """Begin an episode, once the beginning of the one before, which can't be broken off, has come to its end."""
        self._wanted = reset
        self._clear_deadline()
        self._scores = Scores(self._manifest.rewards)
        self._work.set()

    async def tree(self, picture: Box) -> Tree:
        """Return what is to be seen of the page within ``picture``; in lockstep between two steps."""
        page = self._page
        if page is None:
            raise NoTree("no page is loaded at the moment")
        if not page.stepped:
            return await page.tree(picture)
        try:
            async with asyncio.timeout(TREE_S), self._step_channels.turn:
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
        async with self._step_channels.turn:
            self._end_steps()
            if not _lockstep(reset):
                await self._step_channels.begin(None)
            address = self._address(reset)
            if self._clock is not None and _lockstep(reset) and self._table.begin:
                await self._switch(self._clock, address)
            if self._browser is not None:
                await self._state.restore()
            if self._files is not None:
                # What the page before asks for while it ends isn't there any more.
                self._files.home = None
            ending = [self._clock.begin(reset.fps)] if self._clock is not None else []
            await asyncio.gather(asyncio.to_thread(self._set_up, reset), *ending)
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
        browser, files = self._browser, self._files
        if browser is None or files is None:
            return
        if self._clock is None:
            screen = self._manifest.runtime.screen
            self._clock = await PageClock.open(
                page,
                self._environment,
                (screen.width, screen.height),
                browser.process.pid,
                files,
                os.getppid(),
            )
            await self._clock.begin(reset.fps)
        clock = self._clock
        stepped = self._stepped = self._stepped or self._steps(reset, clock)
        await clock.start(lambda: stepped.ready or reset is not self._wanted or page is not self._page)
        if stepped.ready and stepped is self._stepped:
            await self._step_channels.begin(stepped)

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
        loop, screen = asyncio.get_running_loop(), self._environment["DISPLAY"]

        def ask(expression: str) -> Any:
            return asyncio.run_coroutine_threadsafe(page.ask(expression, CHECK_TIMEOUT_S), loop).result()

        def tree() -> Any:
            everything = (0, 0, MAX_COORDINATE, MAX_COORDINATE)
            return asyncio.run_coroutine_threadsafe(page.tree(everything), loop).result().nodes

        look = Look(self._home, lambda: picture_of(screen), tree, ask)
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
        windows = self._windows or await self._start_browser(lockstep=lockstep)
        clock = ClockScript() if lockstep else None
        page: Page = await Page.open(windows, self._outline, lambda payload: self._heard(page, payload), clock)
        if windows is not self._windows:
            raise ConnectionLost("the browser ended")
        return page

    async def _start_browser(self, *, lockstep: bool) -> Windows:
        if self._ending is not None:
            await asyncio.shield(self._ending)
        await self._state.restore_screen()
        # What a runtime serves itself comes from one port.
        network = self._files.port if self._files is not None and not self._table.origins else True
        flags = [*self._flags(), *(FLAGS if lockstep else ())]
        browser = self._browser = await Browser.start(
            self._environment, self._folder, flags, network, PREFERENCES if lockstep else None
        )
        windows = self._windows = Windows(browser.devtools, popups="popups" in self._table.allow, on_gone=self._gone)
        browser.process.on_end(lambda: self._browser_ended(browser))
        browser.devtools.on_close(lambda why: self._browser_hung_up(browser, why))
        await windows.start()
        return windows

    def _browser_hung_up(self, browser: Browser, why: str) -> None:
        # A page can cause this by sending too much at once; it doesn't count towards giving up.
        call_later(HANG_UP_GRACE_S, "browser: hang-up", self._browser_lost, browser, f"browser: {why}", "page")

    def _browser_ended(self, browser: Browser) -> None:
        process = browser.process
        if browser is self._browser and process.output_tail:
            log.warning("the browser's last output:\n    %s", process.output_tail.replace("\n", "\n    "))
        self._browser_lost(browser, f"browser {process.describe_end()}", "process")

    def _browser_lost(self, browser: Browser, reason: str, cause: Cause) -> None:
        if browser is self._browser:
            self._forget_browser()
            self._lose(reason, cause)

    def _forget_browser(self) -> None:
        browser, self._browser, self._windows = self._browser, None, None
        if browser is not None:
            self._ending = start_task(browser.stop(), "browser's end")

    def _flags(self) -> list[str]:
        """Return the flags for zoom, language, and hosts that resolve: files' own alone, else any but this machine."""
        language = f"--accept-lang={self._manifest.runtime.language}"
        shown = [f"--force-device-scale-factor={self._table.zoom}", language]
        origins = [*self._table.origins, *([self._table.url] if self._table.url is not None else [])]
        named = [f"EXCLUDE {host}" for origin in origins if (host := urlsplit(origin).hostname)]
        if self._files is None:
            unknown = [f"MAP {host} ~NOTFOUND" for host in LOOPBACK]
            return [*shown, f"--host-resolver-rules={', '.join([*unknown, *named])}"]
        rules = [f"MAP {HOST} 127.0.0.1:{self._files.port}", "MAP * ~NOTFOUND", *named]
        return [*shown, f"--host-resolver-rules={', '.join(rules)}", "--no-proxy-server"]

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
        self._forget_browser()
        if self._ending is not None:
            await asyncio.shield(self._ending)

    def _fail(self, reset: Reset, reason: str, cause: Cause) -> None:
        if reset is self._wanted:
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
                if self._kept is not self._browser:
                    self._kept = self._browser
                    start_task(self._state.keep(), "browser's start")
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

    def _gone(self, target_id: str, reason: str) -> None:
        if self._page is not None and self._page.target_id == target_id:
            self._lose(reason)
        self._loaded = {address: page for address, page in self._loaded.items() if page.target_id != target_id}

    async def _watch(self) -> None:
        """Replace a page that hangs or grows too large, until cancelled."""
        while True:
            await asyncio.sleep(CHECK_EVERY_S)
            browser, page, scores = self._browser, self._page, self._scores
            if browser is None or page is None:
                continue
            try:
                if await _page_bytes(browser) > MAX_PAGE_BYTES and page is self._page:
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
        watcher = Watcher(self._manifest)
        shown = (table.zoom, runtime.language, runtime.tz)
        return Outline(size.width, size.height, origins, frozenset(table.allow), watcher, script, *shown)


def _lockstep(reset: Reset) -> bool:
    return reset.clock == "lockstep"


async def _page_bytes(browser: Browser) -> int:
    """Return the memory of the browser's largest page; 0 if unknown, which isn't the page's fault."""
    try:
        return await browser.page_bytes()
    except CallTimedOut:
        return 0
