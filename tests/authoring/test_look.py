"""A look at a real program in the viewer: a region is dragged, read, named and written."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest
from pluriverse_authoring.init import TEMPLATES
from pluriverse_authoring.look import Look
from pluriverse_authoring.runtime_file import RuntimeFile, begin
from pluriverse_server.manifest.draft import DRAFT_VARIABLE
from pluriverse_server.manifest.runtime import load
from pluriverse_server.settings import Settings
from support.chromium import Chromium
from support.ports import free_port
from support.waiting import eventually

pytestmark = pytest.mark.browser

ROW = "[...document.querySelectorAll('#look tbody tr')].find(row => row.innerText.startsWith('share of #2e8b57'))"
ERROR = "document.getElementById('look-error').textContent"
RUNS = "document.getElementById('state').textContent === 'running'"
# The corners of a region, in the page.
CORNERS = """(() => {
  const {left, top, width} = document.querySelector('.selecting').getBoundingClientRect(), scale = width / 320;
  return [[100, 100], [219, 139]].map(([x, y]) => [left + (x + 0.5) * scale, top + (y + 0.5) * scale]);
})()"""


def listens(port: int) -> bool:
    with socket.socket() as knocking:
        return knocking.connect_ex(("127.0.0.1", port)) == 0


async def save(browser: Chromium, name: str) -> None:
    await browser.evaluate(f"{ROW}.querySelector('button').click()")
    await browser.evaluate(f"document.getElementById('name').value = '{name}'")
    await browser.evaluate("document.getElementById('naming').requestSubmit()")


async def test_what_is_chosen_of_a_region_is_written_and_read_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DRAFT_VARIABLE, "1")
    (tmp_path / "game.py").write_bytes((TEMPLATES / "game.py").read_bytes())
    folder = begin(["python", str(tmp_path / "game.py")], tmp_path / "mine", (320, 240))
    settings = Settings(folder, vnc_port=free_port(), rewarder_port=free_port(), password="sesame")
    look = Look(RuntimeFile(folder), settings)
    running = asyncio.create_task(look.run())
    browser = await Chromium.start(tmp_path / "profile")
    try:
        address = f"http://127.0.0.1:{settings.rewarder_port}/viewer/?password=sesame&readings=1&control=1&look=1"
        await eventually(lambda: listens(settings.rewarder_port), 60)
        await browser.open(address)
        await browser.wait_until(RUNS, 60)
        await browser.click("#select")
        await browser.wait_until("document.querySelector('.selecting').clientWidth >= 320")
        corners = await browser.evaluate(CORNERS)
        for what, (x, y) in zip(("mousePressed", "mouseMoved", "mouseReleased"), (*corners, corners[1]), strict=True):
            await browser.call("Input.dispatchMouseEvent", type=what, x=x, y=y, button="left", buttons=1, clickCount=1)
        await browser.wait_until(f"{ROW} !== undefined", 60)
        assert await browser.evaluate("document.getElementById('place').textContent") == "[100, 100, 120, 40]"
        assert await browser.evaluate("document.getElementById('cut').naturalWidth") == 120
        await save(browser, "title")
        await browser.wait_until(f"{ERROR}.startsWith('Saved')")
        assert load(folder).sources["title"].model_dump(by_alias=True)["region"] == [100, 100, 120, 40]
        await browser.click("#restart")
        await browser.wait_until("document.querySelector('#sources tbody tr[data-source=title]') !== null", 60)
    finally:
        await browser.close()
        look.stop()
        await running
