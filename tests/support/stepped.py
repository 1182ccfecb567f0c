"""A page of a runtime in lockstep, with a browser and a screen of its own, without a remote around them."""

import asyncio
import contextlib
import itertools
import os
import tempfile
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from urllib.parse import urljoin

from pluriverse_protocol import reports
from pluriverse_protocol.events import KeyEvent, PointerEvent
from pluriverse_server.manifest.page import PageTable
from pluriverse_server.manifest.runtime import EnvTable, Manifest, fill_address, load
from pluriverse_server.programs.catalogue import load_catalogue
from pluriverse_server.scraper.browser import Browser
from pluriverse_server.scraper.page_clock import FLAGS, PREFERENCES, PageClock, WholeScreen
from pluriverse_server.sources.page.clock import ClockScript
from pluriverse_server.sources.page.files import HOST, ORIGIN, Files
from pluriverse_server.sources.page.guard import Windows
from pluriverse_server.sources.page.messages import Scores, read
from pluriverse_server.sources.page.page import Outline, Page
from pluriverse_server.sources.page.watcher import Watcher, episode
from pluriverse_server.sources.reading import Pixels
from support.pages import short_folder
from support.xvfb import bare_xvfb

# No page takes as long to get ready.
PATIENCE_S = 60.0


class Stepped:
    """Plays the environments of a runtime in one page. ``said`` are the reports of the last step."""

    def __init__(self, manifest: Manifest, table: PageTable, entries: dict[str, EnvTable]) -> None:
        self.said: list[reports.Report] = []
        self.manifest = manifest
        self.table = table
        self.entries = entries
        self.page: Page
        self.clock: PageClock
        self._scores = Scores(manifest.rewards)
        self._episodes = itertools.count(1)
        self._episode = 0

    def heard(self, payload: str) -> None:
        said = read(payload, len(self.manifest.rewards))
        assert said.fault is None, said.fault
        if said.episode == self._episode:
            self.said += self._scores.reports(said)

    async def play(self, env_id: str, seed: int, *, anew: bool = False) -> Pixels:
        """Begin an episode; returns its first frame. ``anew``: in a new document, whatever the one before was."""
        entry = self.entries[env_id]
        self._episode = next(self._episodes)
        self._scores = Scores(self.manifest.rewards)
        self.said = []
        context = episode(self._episode, seed, {**entry.model_dump(mode="json"), "options": {}})
        await self.clock.begin(self.manifest.runtime.fps)
        address = urljoin(f"{ORIGIN}/", fill_address(self.table, entry, seed=seed, fps=60))
        if self.page.address == address and self.table.begin and not anew:
            await self.page.begin(context)
        else:
            await self.page.navigate(address, context)
        async with asyncio.timeout(PATIENCE_S):
            await self.clock.start(lambda: any(isinstance(report, reports.Ready) for report in self.said))
        return await self.clock.pixels()

    async def step(self, events: Sequence[KeyEvent | PointerEvent] = (), frames: int = 1) -> Pixels:
        """Apply events, and let frames pass; returns the last one."""
        self.said = []
        if events:
            await self.clock.apply(events)
        await self.clock.advance(frames)
        return await self.clock.pixels()


@contextlib.asynccontextmanager
async def stepped(directory: Path) -> AsyncGenerator[Stepped]:
    """The runtime in ``directory`` in lockstep."""
    manifest = load(directory)
    table = manifest.page
    assert table is not None
    assert table.files is not None
    runtime = manifest.runtime
    width, height = runtime.screen.width, runtime.screen.height
    entries = dict(await load_catalogue(directory, manifest))
    files = Files(directory / table.files)
    await files.start()
    with short_folder() as folder, bare_xvfb(width, height) as (name, _), tempfile.NamedTemporaryFile() as nothing:
        environment = {"DISPLAY": name, "XAUTHORITY": nothing.name}
        rules = f"--host-resolver-rules=MAP {HOST} 127.0.0.1:{files.port}, MAP * ~NOTFOUND"
        scale = f"--force-device-scale-factor={table.zoom}"
        browser = await Browser.start(
            environment, folder / "b", [*FLAGS, scale, rules, "--no-proxy-server"], files.port, PREFERENCES
        )
        try:
            windows = Windows(browser.devtools, popups=False, on_gone=lambda _, __: None)
            await windows.start()
            script = (directory / table.script).read_text() if table.script else None
            outline = Outline(
                width,
                height,
                frozenset((ORIGIN,)),
                frozenset(table.allow),
                Watcher(manifest, menus="menus" in table.allow),
                script,
                table.zoom,
            )
            played = Stepped(manifest, table, entries)
            played.page = await Page.open(windows, outline, played.heard, ClockScript())
            place = await WholeScreen.open(environment, (width, height), browser.process.pid, os.getpid())
            played.clock = PageClock(played.page, place, (width, height), files, os.getpid())
            try:
                yield played
            finally:
                await played.clock.close()
        finally:
            await browser.stop()
            await files.stop()
