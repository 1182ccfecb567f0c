import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from pluriverse_server.process import StartError
from pluriverse_server.scraper.browser import Browser
from pluriverse_server.sources.page.guard import Windows
from pluriverse_server.sources.page.page import Page
from support import sessions
from support.leftovers import Leftovers
from support.pages import outline, short_folder
from support.waiting import eventually
from support.xvfb import xvfb

pytestmark = pytest.mark.browser


@asynccontextmanager
async def browser(*flags: str) -> AsyncGenerator[Browser]:
    with short_folder() as folder, xvfb() as screen:
        browser = await Browser.start({"DISPLAY": screen.name}, folder / "browser", flags)
        try:
            yield browser
        finally:
            await browser.stop()
            assert not (folder / "browser").exists()


async def test_stopped_browser_leaves_nothing_and_nobody_else_can_reach_its_devtools() -> None:
    before = set(Leftovers.descendants())
    async with browser() as started:
        version = await started.devtools.call("Browser.getVersion")
        assert "Chrome" in version["product"]
        assert await started.page_bytes() == 0
        assert started.process.returncode is None
        process = psutil.Process(started.process.pid)
        connections = [each for one in (process, *process.children(recursive=True)) for each in one.net_connections()]
        assert [each for each in connections if each.status == psutil.CONN_LISTEN] == []
    await eventually(lambda: set(Leftovers.descendants()) <= before)
    await started.stop()


async def test_window_that_is_closed_is_told_of_and_strays_are_closed() -> None:
    gone: list[tuple[str, str]] = []
    async with browser() as started:
        windows = Windows(started.devtools, popups=False, on_gone=lambda target_id, why: gone.append((target_id, why)))
        await windows.start()
        page = await Page.open(windows, outline(), lambda _: None)
        assert 0 < await started.page_bytes() < 2**30
        stray = await started.devtools.call("Target.createTarget", {"url": "about:blank"})
        await eventually(lambda: (stray["targetId"], "the page closed its window") in gone)
        await page.check(5)
        await started.devtools.call("Target.closeTarget", {"targetId": page.target_id})
        await eventually(lambda: (page.target_id, "the page closed its window") in gone)


# What a place says of where it is: zone, language, and whether it is dark, which a worker doesn't know.
TOLD = """(() => [
  new Date(2026, 0).getTimezoneOffset(),
  Intl.DateTimeFormat().resolvedOptions().timeZone,
  Intl.NumberFormat().resolvedOptions().locale,
  (1234.5).toLocaleString(),
  navigator.languages[0],
  self.matchMedia ? matchMedia("(prefers-color-scheme: dark)").matches : false,
  self.devicePixelRatio ?? 1,
])()"""
EVERYWHERE = f"""(async () => {{
  const frame = document.createElement("iframe");
  document.body.append(frame);
  const blob = new Blob([`postMessage(${{{json.dumps(TOLD)}}})`]);
  const worker = new Worker(URL.createObjectURL(blob));
  const said = await new Promise((resolve) => {{ worker.onmessage = (message) => resolve(message.data); }});
  return [{TOLD}, frame.contentWindow.eval({json.dumps(TOLD)}), said];
}})()"""


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        pytest.param({}, [0, "UTC", "en-US", "1,234.5", "en-US", False, 1], marks=pytest.mark.slow),
        ({"language": "de-DE", "tz": "Asia/Tokyo"}, [-540, "Asia/Tokyo", "de-DE", "1.234,5", "de-DE", False, 1]),
    ],
)
async def test_page_is_where_its_runtime_says_whatever_the_session(
    shown: dict[str, str], expected: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in sessions.hostile(tmp_path / "session").items():
        monkeypatch.setenv(name, value)
    where = replace(outline(), **shown)
    async with browser(f"--accept-lang={where.language}") as started:
        windows = Windows(started.devtools, popups=False, on_gone=lambda _, __: None)
        await windows.start()
        # One after the other, as in episodes: each says so of its own.
        for _ in range(2):
            page = await Page.open(windows, where, lambda _: None)
            assert await page.ask(EVERYWHERE, 10) == [expected, expected, expected]
            page.close()


async def test_browser_that_is_not_installed_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(StartError, match=r"'chromium' was not found on PATH; .* apt-get install chromium"):
        await Browser.start({}, Path("/tmp/none"), ())  # noqa: S108 - nothing is written there


async def test_browser_does_without_its_sandbox_where_it_gets_none_and_its_last_words_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with short_folder() as folder:
        program, tries = folder / "chromium", folder / "tries"
        program.write_text(f"#!/bin/sh\necho $* >> {tries}; echo No usable sandbox; exit 3\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        with pytest.raises(StartError, match="the browser did not start: exit status 3\nNo usable sandbox"):
            await Browser.start({}, folder / "browser", ("--more",))
        assert not (folder / "browser").exists()
        first, second = (await asyncio.to_thread(tries.read_text)).splitlines()
        assert "--no-sandbox" not in first
        assert "--no-sandbox" in second
        assert "--more" in second
