"""A page in a browser as the program of a remote, watched through DevTools since it reports nothing itself."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urljoin, urlsplit

from msgspec.structs import replace
from pluriverse_protocol import Headers, reports
from pluriverse_protocol.env_options import Value
from pluriverse_protocol.messages import AgentStep, ErrorReply, StepReply
from pluriverse_protocol.step_channel import View

from pluriverse_server.episode import Begin
from pluriverse_server.kit.step_channel import IN_REAL_TIME, over
from pluriverse_server.manifest.page import origin_of
from pluriverse_server.manifest.runtime import NO_OPTIONS, EnvTable, Manifest, ManifestError, fill_address
from pluriverse_server.permitted import permitted_by
from pluriverse_server.process import OutOfResources, StartError, executable
from pluriverse_server.sources.page.clock import ClockScript
from pluriverse_server.sources.page.devtools import CallTimedOut, ConnectionLost, DevToolsError
from pluriverse_server.sources.page.files import HOST, ORIGIN, Files
from pluriverse_server.sources.page.messages import BadValue, Scores, read
from pluriverse_server.sources.page.page import Outline, Page, PageError
from pluriverse_server.sources.page.watcher import Watcher, episode
from pluriverse_server.sources.screen.grab import ScreenLost
from pluriverse_server.sources.trees import TREE_S, Box, NoTree, Tree
from pluriverse_server.tasks import call_later, start_task
from pluriverse_server.x11.connection import DisplayLost

from .browser import BINARY, Browser
from .page_browser import BrowserKeeper
from .page_clock import FLAGS, PREFERENCES, PageClock, Stuck
from .page_step_channel import PageEpisode, PageStepChannel, Pixels
from .program import Lost, nothing

# The folder of the browser's profile. One letter: the browser creates Unix sockets below it, whose paths are limited.
FOLDER: Final = "b"

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

# A watcher sends a message a frame, and whenever the page pushes: four times the fastest screens' rate.
MAX_MESSAGES_PER_S: Final = 1000

# The page's clock is this machine's; a message is never older than this when it arrives.
MAX_LATE_S: Final = 1.0


class PageProgram:
    """A runtime's page on one screen, with the interface of ``Program``."""

    takes_joystick = False

    def __init__(
        self,
        directory: Path,
        manifest: Manifest,
        catalogue: Mapping[str, EnvTable],
        runtime_dir: Path,
        on_report: Callable[[reports.Report], None],
        on_lost: Callable[[Lost], None],
    ) -> None:
        assert manifest.page is not None
        self._table = manifest.page
        self._manifest = manifest
        self._catalogue = catalogue
        self._directory = directory
        self._on_report = on_report
        self._on_lost = on_lost
        self._files = Files(directory / self._table.files) if self._table.files is not None else None
        self._keeper = BrowserKeeper(
            runtime_dir / FOLDER, popups="popups" in self._table.allow, on_gone=self._gone, on_lost=self._lose
        )
        self._outline: Outline | None = None
        self._compiled = False
        self._page: Page | None = None
        # In lockstep the page has a clock, and its episode is stepped on a step channel, by one task at a time.
        self._clock: PageClock | None = None
        self._stepped: PageEpisode | None = None
        self._step_channel = PageStepChannel(self._play)
        self._turn = asyncio.Lock()
        self._wanted: Begin | None = None
        self._scores = Scores(manifest.rewards)
        self._deadline: asyncio.TimerHandle | None = None
        self._lost_at = self._not_before = -RETRY_S
        self._work = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._messages = (0, 0)  # the second of the loop's clock, and how many came within it
        self.malformed_reports = 0
        self.clear_screen: Callable[[], Awaitable[None]] = nothing
        """Called before each start of the browser."""

    @property
    def page(self) -> Page | None:
        return self._page

    def require(self, entry: EnvTable) -> None:
        self._address(entry, seed=0, fps=self._manifest.runtime.fps)
        executable(BINARY, package="chromium")

    async def start(self) -> None:
        """Serve the files; the browser is started once there is a screen."""
        if self._files is not None:
            await self._files.start()
        self._outline = self._make_outline()
        self._tasks = [
            start_task(self._keep(), "page"),
            start_task(self._watch(), "page: checks"),
        ]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._step_channel.close()
        await self.take_off()
        if self._files is not None:
            await self._files.stop()

    def put_on(self, environment: Mapping[str, str]) -> None:
        self._keeper.environment = {**environment, **self._manifest.runtime.locale}
        self._work.set()

    async def take_off(self) -> None:
        """End the browser, since its screen is gone, and don't start it before the next ``put_on``. Not a loss."""
        self._keeper.environment = None
        self._clear_deadline()
        await self._end_browser()

    def begin(self, begin: Begin) -> None:
        self._wanted = begin
        self._clear_deadline()
        self._scores = Scores(self._manifest.rewards)
        self._work.set()

    def restart(self, reason: str) -> None:
        self._lose(Lost(reason, died=False))

    def send(self, request: reports.Request) -> None:
        """Do nothing: pages take no requests but episodes."""

    def check_frozen(self, now: float) -> None:
        """Do nothing: pages needn't draw, and one that hangs is found by ``_watch``."""

    @property
    def takes_step_channels(self) -> bool:
        return self._stepped is not None

    def open_step_channel(self, step_channel: socket.socket, slot: int = 0, view: View | None = None) -> None:
        """Let an agent step the page on ``step_channel``, which the caller then closes; ``view``: of its pictures."""
        assert slot == 0
        self._step_channel.open(step_channel, view)
        start_task(self._show_first(), "page: first frame")

    def close_step_channel(self) -> None:
        self._step_channel.close()

    async def tree(self, picture: Box) -> Tree:
        """Return what is to be seen of the page within ``picture``; in lockstep between two steps."""
        page = self._page
        if page is None:
            raise NoTree("there is no page at the moment")
        if not page.stepped:
            return await page.tree(picture)
        try:
            async with asyncio.timeout(TREE_S), self._turn:
                return await page.tree(picture)
        except TimeoutError:
            raise NoTree(f"the page's step wasn't over within {TREE_S:g} s") from None

    @property
    def pid(self) -> int | None:
        return self._keeper.browser.process.pid if self._keeper.browser is not None else None

    # ── episodes ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _keep(self) -> None:
        begun: Begin | None = None
        while True:
            await self._work.wait()
            self._work.clear()
            begin, environment = self._wanted, self._keeper.environment
            if begin is None or environment is None or (begin is begun and self._page is not None):
                continue
            begun = begin
            try:
                await self._begin(begin, environment)
            except ConnectionLost:
                # The page was closed, or its browser's process ends as well, which is reported elsewhere.
                continue
            except (DevToolsError, DisplayLost, PageError, ScreenLost, Stuck) as error:
                self._fail(begin, Lost(f"page: {error}", died=False))
            except ManifestError as error:
                self._fail(begin, Lost(str(error), mistake=error))
            except StartError as error:
                # Not the page's fault, and the next episode would fail, too.
                self._fail(begin, Lost(str(error), died=not isinstance(error, OutOfResources)))

    async def _begin(self, begin: Begin, environment: Mapping[str, str]) -> None:
        await asyncio.sleep(max(0, self._not_before - asyncio.get_running_loop().time()))
        # A step that is under way ends first.
        async with self._turn:
            self._stepped = None
            if self._clock is not None:
                await self._clock.begin(begin.fps)
                self._stepped = self._episode(begin, self._clock)
            page = await self._show(begin, environment)
            if page is not None and _lockstep(begin):
                await self._get_ready(begin, page, environment)

    async def _show(self, begin: Begin, environment: Mapping[str, str]) -> Page | None:
        """Show the page in which an episode begins; None if the screen was lost meanwhile."""
        entry = self._catalogue[begin.environment.env_id]
        options = begin.environment.options
        address = self._address(entry, seed=begin.seed, fps=begin.fps, options=options)
        # Pages are told the options' values where the table declares them.
        context = episode(begin.episode_id, begin.seed, {**entry.model_dump(mode="json"), "options": dict(options)})
        if self._page is not None and self._page.stepped != _lockstep(begin):
            await self._end_browser()
        page = self._page
        if page is not None and self._table.begin and page.address == address and not page.strayed:
            self._set_deadline()
            await page.begin(context)
            return page
        if page is None or self._table.fresh == "context":
            page = await self._open_page(environment, lockstep=_lockstep(begin))
        if page is not None:
            self._set_deadline()
            await page.navigate(address, context)
        return page

    async def _get_ready(self, begin: Begin, page: Page, environment: Mapping[str, str]) -> None:
        """Let time pass until the episode's first frame is there, and show it."""
        browser, files = self._keeper.browser, self._files
        if browser is None or files is None:
            return
        if self._clock is None:
            screen = self._manifest.runtime.screen
            self._clock = await PageClock.open(
                page, environment, (screen.width, screen.height), browser.process.pid, files
            )
            await self._clock.begin(begin.fps)
        clock = self._clock
        stepped = self._stepped = self._stepped or self._episode(begin, clock)
        await clock.start(lambda: stepped.ready or begin is not self._wanted or page is not self._page)
        if stepped.ready and stepped is self._stepped:
            await self._step_channel.show_first(stepped)

    def _episode(self, begin: Begin, clock: PageClock) -> PageEpisode:
        permitted = permitted_by(self._manifest.spaces_of(self._catalogue[begin.environment.env_id]), ())
        return PageEpisode(begin, clock, permitted, self._report)

    async def _show_first(self) -> None:
        async with self._turn:
            if self._stepped is not None and self._stepped.ready and not self._stepped.over:
                # A screen that is lost is noticed elsewhere.
                with contextlib.suppress(DisplayLost, ScreenLost):
                    await self._step_channel.show_first(self._stepped)

    async def _play(self, step: AgentStep, headers: Headers) -> tuple[StepReply | ErrorReply, Pixels | None]:
        """Play a step of the agent's; return the answer and its pixels."""
        async with self._turn:
            stepped = self._stepped
            if stepped is None:
                return ErrorReply(IN_REAL_TIME), None
            if stepped.over or headers.episode_id != stepped.number:
                return over(headers), None
            try:
                return await stepped.step(step)
            except (DevToolsError, DisplayLost, ScreenLost, Stuck) as error:
                if stepped is self._stepped and not isinstance(error, ConnectionLost):
                    self._lose(Lost(f"page: {error}", died=False))
                return ErrorReply(f"the step failed: {error}"), None

    def _address(self, entry: EnvTable, *, seed: int, fps: float, options: Mapping[str, Value] = NO_OPTIONS) -> str:
        address = fill_address(self._table, entry, seed=seed, fps=fps, options=options)
        if self._files is None:
            return address
        self._files.require(address)
        return urljoin(f"{ORIGIN}/", address)

    async def _open_page(self, environment: Mapping[str, str], *, lockstep: bool) -> Page | None:
        # What a runtime serves itself comes from one port.
        network = self._files.port if self._files is not None and not self._table.origins else True
        flags = [*self._flags(), *(FLAGS if lockstep else ())]
        if self._keeper.browser is None:
            await self.clear_screen()
        windows = await self._keeper.start(environment, flags, network, PREFERENCES if lockstep else None)
        if windows is None:
            return None
        assert self._outline is not None
        clock = ClockScript() if lockstep else None
        page: Page = await Page.open(windows, self._outline, lambda payload: self._heard(page, payload), clock)
        if windows is not self._keeper.windows:
            return None
        self._close_page()
        self._page = page
        if not self._compiled:
            await page.require_javascript()
            self._compiled = True
        return page

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
        clock, self._clock, self._stepped = self._clock, None, None
        if clock is not None:
            start_task(clock.close(), "page: its clock")
        if page is not None:
            page.close()

    async def _end_browser(self) -> None:
        self._close_page()
        await self._keeper.end()

    def _fail(self, begin: Begin, lost: Lost) -> None:
        if begin is self._wanted and self._keeper.environment is not None:
            self._lose(lost)

    def _lose(self, lost: Lost) -> None:
        self._clear_deadline()
        self._close_page()
        loop = asyncio.get_running_loop()
        # The first loss is replaced at once.
        self._not_before, self._lost_at = self._lost_at + RETRY_S, loop.time()
        lost.log()
        self._on_lost(lost)

    # ── messages of the page ─────────────────────────────────────────────────────────────────────────────────────────

    def _heard(self, page: Page, payload: str) -> None:
        begin = self._wanted
        if page is not self._page or begin is None:
            return
        try:
            self._count_message()
            said = read(payload, len(self._manifest.rewards))
        except BadValue as error:
            self.malformed_reports += 1
            self._lose(Lost(str(error), died=False))
            return
        if said.episode != begin.episode_id:
            return
        if said.fault is not None:
            self._lose(Lost(f"page: {said.fault}", died=False))
            return
        now = time.time()
        said = replace(said, at=min(max(said.at, now - MAX_LATE_S), now))
        for report in self._scores.reports(said):
            if isinstance(report, reports.Ready):
                self._clear_deadline()
            self._report(report)

    def _report(self, report: reports.Report) -> None:
        if self._stepped is not None:
            self._stepped.note(report)
        self._on_report(report)

    def _count_message(self) -> None:
        second = int(asyncio.get_running_loop().time())
        self._messages = (second, self._messages[1] + 1 if second == self._messages[0] else 1)
        if self._messages[1] > MAX_MESSAGES_PER_S:
            raise BadValue(f"the page sent more than {MAX_MESSAGES_PER_S} messages within a second")

    def _gone(self, target_id: str, reason: str) -> None:
        if self._page is not None and self._page.target_id == target_id:
            self._lose(Lost(reason, died=False))

    async def _watch(self) -> None:
        """Replace a page that hangs or grows too large, until cancelled."""
        while True:
            await asyncio.sleep(CHECK_EVERY_S)
            browser, page, scores = self._keeper.browser, self._page, self._scores
            if browser is None or page is None:
                continue
            try:
                if await _page_bytes(browser) > MAX_PAGE_BYTES and page is self._page:
                    self._lose(Lost(f"the page took over {MAX_PAGE_BYTES / 2**30:g} GiB of memory", died=False))
                elif not page.guard.dialog_open and not page.stepped:
                    await page.check(CHECK_TIMEOUT_S)
            except CallTimedOut:
                # Before the episode runs, the deadline for getting ready applies instead.
                if scores.running and scores is self._scores and page is self._page:
                    self._lose(Lost(f"the page hung: no answer for {CHECK_TIMEOUT_S:g} s", died=False))
            except DevToolsError:
                # It was lost meanwhile, which is reported elsewhere.
                continue

    # ── readiness ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _set_deadline(self) -> None:
        self._clear_deadline()
        timeout_s = self._table.ready_timeout_s
        lost = Lost(f"page was not ready within {timeout_s:g} s", died=False)
        self._deadline = call_later(timeout_s, "page: readiness", self._lose, lost)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _make_outline(self) -> Outline:
        table = self._table
        origin = ORIGIN if table.url is None else origin_of(table.url)
        assert origin is not None
        runtime, size = self._manifest.runtime, self._manifest.runtime.screen
        try:
            script = (self._directory / table.script).read_text(encoding="utf-8") if table.script else None
        except (OSError, ValueError) as error:
            raise StartError(f"page.script {self._directory / str(table.script)} can't be read: {error}") from error
        origins = frozenset((origin, *table.origins))
        watcher = Watcher(self._manifest)
        allow = frozenset(table.allow)
        shown = (table.zoom, runtime.language, runtime.tz)
        return Outline(size.width, size.height, origins, allow, watcher, script, *shown)


def _lockstep(begin: Begin) -> bool:
    return begin.environment.clock == "lockstep"


async def _page_bytes(browser: Browser) -> int:
    """Return the memory of the browser's largest page; 0 if the browser doesn't say, which is no fault of the page."""
    try:
        return await browser.page_bytes()
    except CallTimedOut:
        return 0
