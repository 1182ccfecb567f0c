"""A look at a real program in the viewer: a region is dragged, read, named and written."""

import asyncio
from pathlib import Path

import pytest
from pluriverse_authoring.init import TEMPLATES
from pluriverse_authoring.look import Look
from pluriverse_authoring.runtime_file import RuntimeFile, begin
from pluriverse_server.manifest.draft import DRAFT_VARIABLE
from pluriverse_server.manifest.runtime import load
from pluriverse_server.settings import Settings
from support.chromium import Chromium
from support.ports import free_port, listens
from support.waiting import eventually

pytestmark = pytest.mark.browser

TITLE, NUMBER = (
    f"[...document.querySelectorAll('#look tbody tr')].find(row => row.innerText.startsWith('{how}'))"
    for how in ("share of #2e8b57", "number by digits.png")
)
READS = "document.getElementById('reads').textContent"
ERROR = "document.getElementById('look-error').textContent"
RUNS = "document.getElementById('state').textContent === 'running'"
# The place of a pixel of the remote's screen in the page.
PLACE = """(() => {
  const {left, top, width} = document.querySelector('.selecting').getBoundingClientRect(), scale = width / 320;
  return [left + (X + 0.5) * scale, top + (Y + 0.5) * scale];
})()"""


async def drag(browser: Chromium, *corners: tuple[int, int]) -> None:
    places = [await browser.evaluate(PLACE.replace("X", str(x)).replace("Y", str(y))) for x, y in corners]
    for what, (x, y) in zip(("mousePressed", "mouseMoved", "mouseReleased"), (*places, places[1]), strict=True):
        await browser.call("Input.dispatchMouseEvent", type=what, x=x, y=y, button="left", buttons=1, clickCount=1)


async def edit(browser: Chromium, pattern: str) -> None:
    await browser.evaluate(
        f"(() => {{ const field = document.getElementById('written'); field.value = '{pattern}';"
        " field.dispatchEvent(new Event('change')); })()"
    )


async def save(browser: Chromium, name: str) -> None:
    await browser.evaluate(f"{TITLE}.querySelector('button').click()")
    await browser.evaluate(f"document.getElementById('name').value = '{name}'")
    await browser.evaluate("document.getElementById('naming').requestSubmit()")


async def test_what_is_chosen_of_a_region_is_written_and_read_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DRAFT_VARIABLE, "1")
    (tmp_path / "game.py").write_bytes((TEMPLATES / "game.py").read_bytes())
    folder = begin(["python", str(tmp_path / "game.py")], tmp_path / "mine", (320, 240))
    (folder / "glyphs").mkdir()
    (folder / "glyphs/digits.png").write_bytes((TEMPLATES / "glyphs/digits.png").read_bytes())
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
        await drag(browser, (100, 100), (219, 139))
        await browser.wait_until(f"{TITLE} !== undefined", 60)
        assert await browser.evaluate("document.getElementById('place').textContent") == "[100, 100, 120, 40]"
        assert await browser.evaluate("document.getElementById('cut').naturalWidth") == 120
        await save(browser, "title")
        await browser.wait_until(f"{ERROR}.startsWith('Saved')")
        assert load(folder).sources["title"].model_dump(by_alias=True)["region"] == [100, 100, 120, 40]
        # The game shows its score once it is played: a number, by a pattern that is edited.
        await browser.click("#select")
        await browser.click("#screen canvas")
        await browser.press(" ", "Space", 32)
        await browser.click("#select")
        await browser.wait_until("document.querySelector('.selecting').clientWidth >= 320")
        await drag(browser, (4, 4), (79, 31))
        await browser.wait_until(f"{NUMBER} !== undefined", 60)
        await browser.evaluate(f"{NUMBER}.querySelector('button').click()")
        await edit(browser, "Score: {}")
        await browser.wait_until(f"{READS} === 'no reading'")
        await edit(browser, "{}")
        await browser.wait_until(f"/^\\d+, \\d+ %$/.test({READS})")
        await edit(browser, "Score")
        await browser.wait_until(f"{ERROR}.includes('{{}}')")
        await browser.click("#restart")
        await browser.wait_until("document.querySelector('#sources tbody tr[data-source=title]') !== null", 60)
    finally:
        await browser.close()
        look.stop()
        await running
