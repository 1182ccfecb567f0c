"""A page in a browser as the program of a remote: it says nothing by itself, so what happens in it is watched."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import urljoin, urlsplit

from pluriverse_protocol import reports

from pluriverse_server.episode import Begin
from pluriverse_server.manifest.page import origin_of
from pluriverse_server.manifest.runtime import EnvTable, Manifest, ManifestError, fill_address
from pluriverse_server.process import StartError
from pluriverse_server.sources.page.devtools import CallTimedOut, ConnectionLost, DevToolsError
from pluriverse_server.sources.page.files import HOST, ORIGIN, Files
from pluriverse_server.sources.page.page import Outline, Page, PageError
from pluriverse_server.sources.page.scores import Scores
from pluriverse_server.sources.page.values import BadValue, read
from pluriverse_server.sources.page.watcher import Watcher, episode

from .page_browser import BrowserKeeper
from .program import Lost

# The browser's profile and all that it writes are in this folder of the remote's private one.
# One letter: the browser puts sockets below it, and what starts a remote may have put that somewhere deep already.
FOLDER: Final = "b"

# A page is asked so often whether it lives, and has so long to say so: one that hangs is replaced within two seconds.
CHECK_EVERY_S: Final = 0.5
CHECK_TIMEOUT_S: Final = 1.5

# Scripts' own memory is limited to half of this by a flag; what pictures, sounds and WebAssembly take is not.
MAX_PAGE_BYTES: Final = 1024**3

# The names that this machine has for itself: the daemon and the browser's own DevTools listen there.
LOOPBACK: Final = ("localhost", "*.localhost", "127.*", "[::1]", "0.0.0.0")

# Pages that fail at once are not loaded again and again as fast as the machine can.
RETRY_S: Final = 0.5

# A watcher says something a frame, and whenever the page pushes: four times what the fastest screens show.
MAX_MESSAGES_PER_S: Final = 1000

# The page's clock is this machine's; what it says on the way here is never older than this.
MAX_LATE_S: Final = 1.0


class PageProgram:
    """One runtime's page on one screen; to the service what ``Program`` is."""

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
        """``runtime_dir`` is a private folder for the browser's. ``on_lost`` may call ``begin`` at once."""
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
        self._wanted: Begin | None = None
        self._scores = Scores(manifest.rewards)
        self._deadline: asyncio.TimerHandle | None = None
        self._lost_at = self._not_before = -RETRY_S
        self._work = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._messages = (0, 0)  # the second of the loop's clock, and how many came within it
        self.malformed_reports = 0

    async def start(self) -> None:
        """Serve the files; the browser is started once there is a screen.

        Raises:
            StartError: what the manifest names isn't there.
        """
        if self._files is not None:
            await self._files.start()
        self._outline = self._make_outline()
        self._tasks = [
            asyncio.create_task(self._keep(), name="page"),
            asyncio.create_task(self._watch(), name="page: checks"),
        ]

    async def stop(self) -> None:
        """End the browser and serve no more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.take_off()
        if self._files is not None:
            await self._files.stop()

    def put_on(self, environment: Mapping[str, str]) -> None:
        """From now on there is a screen to draw on: the one that ``environment`` (DISPLAY, XAUTHORITY) names."""
        self._keeper.environment = environment
        self._work.set()

    async def take_off(self) -> None:
        """The screen is gone: end the browser, and don't start it again until ``put_on``. Not a loss."""
        self._keeper.environment = None
        self._page = None
        self._clear_deadline()
        await self._keeper.end()

    def begin(self, begin: Begin) -> None:
        """Ask for an episode, in the page as it is or in a new one."""
        self._wanted = begin
        self._clear_deadline()
        self._scores = Scores(self._manifest.rewards)
        self._work.set()

    def send(self, request: reports.Request) -> None:
        """Nothing: a page is told of no more than its episodes."""

    def check_frozen(self, now: float) -> None:
        """Nothing: a page draws when it likes. One that hangs is found by itself."""

    @property
    def pid(self) -> int | None:
        """The browser's process id, if it runs."""
        return self._keeper.browser.process.pid if self._keeper.browser is not None else None

    # ── episodes ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _keep(self) -> None:
        """Begin the episode that is wanted, then the next, for as long as this is not cancelled."""
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
                # Its process ends as well, or has; that is told of then.
                continue
            except (DevToolsError, PageError) as error:
                self._fail(begin, Lost(f"page: {error}", died=False))
            except (StartError, ManifestError) as error:
                # No page is to blame, and no episode will go better.
                self._fail(begin, Lost(str(error)))

    async def _begin(self, begin: Begin, environment: Mapping[str, str]) -> None:
        await asyncio.sleep(max(0, self._not_before - asyncio.get_running_loop().time()))
        entry = self._catalogue[begin.environment.env_id]
        address = self._address(begin, entry)
        told = episode(begin.episode_id, begin.seed, entry.model_dump(mode="json"))
        page = self._page
        if page is not None and self._table.begin and page.address == address and not page.strayed:
            self._set_deadline()
            await page.begin(told)
            return
        if page is None or self._table.fresh == "context":
            page = await self._open_page(environment)
        if page is not None:
            self._set_deadline()
            await page.navigate(address, told)

    def _address(self, begin: Begin, entry: EnvTable) -> str:
        address = fill_address(self._table, entry, seed=begin.seed, fps=begin.fps)
        if self._files is None:
            return address
        self._files.require(address)
        return urljoin(f"{ORIGIN}/", address)

    async def _open_page(self, environment: Mapping[str, str]) -> Page | None:
        """A new page instead of the one that is there; None if the screen went away meanwhile."""
        windows = await self._keeper.start(environment, self._flags())
        if windows is None:
            return None
        assert self._outline is not None
        page = await Page.open(windows, self._outline, lambda payload: self._heard(page, payload))
        if windows is not self._keeper.windows:
            return None
        self._close_page()
        self._page = page
        if not self._compiled:
            await page.require_javascript()
            self._compiled = True
        return page

    def _flags(self) -> list[str]:
        """How large pixels are, and which hosts there are: for files their own alone, else any but this machine's."""
        scale = f"--force-device-scale-factor={self._table.zoom}"
        origins = [*self._table.origins, *([self._table.url] if self._table.url is not None else [])]
        named = [f"EXCLUDE {host}" for origin in origins if (host := urlsplit(origin).hostname)]
        if self._files is None:
            unknown = [f"MAP {host} ~NOTFOUND" for host in LOOPBACK]
            return [scale, f"--host-resolver-rules={', '.join([*unknown, *named])}"]
        rules = [f"MAP {HOST} 127.0.0.1:{self._files.port}", "MAP * ~NOTFOUND", *named]
        return [scale, f"--host-resolver-rules={', '.join(rules)}", "--no-proxy-server"]

    def _close_page(self) -> None:
        page, self._page = self._page, None
        if page is not None:
            page.close()

    def _fail(self, begin: Begin, lost: Lost) -> None:
        """Tell that ``begin`` came to nothing; unless that was told already, or the screen went away."""
        if begin is self._wanted and self._keeper.environment is not None:
            self._lose(lost)

    def _lose(self, lost: Lost) -> None:
        self._clear_deadline()
        self._close_page()
        loop = asyncio.get_running_loop()
        # The first is replaced at once.
        self._not_before, self._lost_at = self._lost_at + RETRY_S, loop.time()
        lost.log()
        self._on_lost(lost)

    # ── what happens in the page ────────────────────────────────────────────────────────────────────────────────────

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
            self._on_report(report)

    def _count_message(self) -> None:
        second = int(asyncio.get_running_loop().time())
        self._messages = (second, self._messages[1] + 1 if second == self._messages[0] else 1)
        if self._messages[1] > MAX_MESSAGES_PER_S:
            raise BadValue(f"the page said more than {MAX_MESSAGES_PER_S} things within a second")

    def _gone(self, target_id: str, reason: str) -> None:
        if self._page is not None and self._page.target_id == target_id:
            self._lose(Lost(reason, died=False))

    async def _watch(self) -> None:
        """Find a page that hangs or grows too large, for as long as this is not cancelled."""
        while True:
            await asyncio.sleep(CHECK_EVERY_S)
            browser, page, scores = self._keeper.browser, self._page, self._scores
            if browser is None or page is None:
                continue
            try:
                if await browser.page_bytes() > MAX_PAGE_BYTES and page is self._page:
                    self._lose(Lost(f"the page took over {MAX_PAGE_BYTES / 2**30:g} GiB of memory", died=False))
                elif not page.guard.dialog_open:
                    await page.check(CHECK_TIMEOUT_S)
            except CallTimedOut:
                # Before an episode runs, there is the time that it has for getting ready.
                if scores.running and scores is self._scores and page is self._page:
                    self._lose(Lost(f"the page hung: no answer for {CHECK_TIMEOUT_S:g} s", died=False))
            except DevToolsError:
                # It went away meanwhile, which is told of elsewhere.
                continue

    # ── readiness ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _set_deadline(self) -> None:
        self._clear_deadline()
        timeout_s = self._table.ready_timeout_s
        lost = Lost(f"page was not ready within {timeout_s:g} s", died=False)
        self._deadline = asyncio.get_running_loop().call_later(timeout_s, self._lose, lost)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _make_outline(self) -> Outline:
        table = self._table
        origin = ORIGIN if table.url is None else origin_of(table.url)
        assert origin is not None
        size = self._manifest.runtime.screen
        try:
            script = (self._directory / table.script).read_text(encoding="utf-8") if table.script else None
        except (OSError, ValueError) as error:
            raise StartError(f"page.script {self._directory / str(table.script)} can't be read: {error}") from error
        origins = frozenset((origin, *table.origins))
        watcher = Watcher(self._manifest)
        return Outline(size.width, size.height, origins, frozenset(table.allow), watcher, script, table.zoom)
