"""The first hour of an author, and of a player on a phone: what nobody looked at is told, what can be pressed shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.author import Author
from support.chromium import Chromium
from support.leftovers import Leftovers
from support.remotes import find

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timeout(240)]

READY = "document.querySelector('#tracks input:checked') !== null && document.getElementById('frame').naturalWidth > 0"
LINK = "document.getElementById('link').innerText"


async def test_score_of_labels_that_were_accepted_unseen_says_so(tmp_path: Path) -> None:
    leftovers = Leftovers()
    author = Author(tmp_path)
    author.type("pluriverse-server init mine")
    manifest = tmp_path / "mine/runtime.toml"
    manifest.write_text(manifest.read_text().replace('= "lives == 0" }', '= "lives == 0", won = "score > 900" }'))
    # A basket in which half of what falls lands.
    game = tmp_path / "mine/game.py"
    game.write_text(game.read_text().replace("BASKET_WIDTH, BASKET_SPEED = 56", "BASKET_WIDTH, BASKET_SPEED = 160"))
    author.type("pluriverse-server record --agent random --seconds 20 --output mine/recordings/first.plrec mine")
    labels = tmp_path / "mine/recordings/first.labels.json"
    browser = await Chromium.start(tmp_path / "profile")
    try:
        async with author.typing("pluriverse-server label mine/recordings/first.plrec") as said:
            await browser.open(find(r"(http://127\.0\.0\.1:\S+/\?label)", said))
            await browser.wait_until(READY)
            for track in ("episodes", "score", "lives", "rewards"):
                await browser.evaluate(f"document.querySelector('#tracks input[value={track}]').click()")
                await browser.press("a", "KeyA", 65)
            await browser.wait_until(f"{LINK} === 'saved'")
    finally:
        await browser.close()
    assert json.loads(labels.read_text())["rewards"]
    told = author.type("pluriverse-server score mine", status=None)
    assert re.search(
        r"0 labels entered by a person, \d+ accepted as proposed; not compared with the picture by a person", told
    )
    assert "mine.Catch-v0: done won never occurred; record an episode that ends so" in told
    leftovers.assert_none()


async def test_who_opens_the_port_on_a_phone_gets_the_viewer_and_the_keys_of_the_game(tmp_path: Path) -> None:
    leftovers = Leftovers()
    author = Author(tmp_path)
    author.type("pluriverse-server init mine")
    browser = await Chromium.start(tmp_path / "profile", width=390, height=844)
    try:
        await browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
        async with author.typing("pluriverse-server try mine"):
            await browser.open(f"http://127.0.0.1:{author.port}/")
            assert await browser.evaluate("location.pathname") == "/viewer/"
            await browser.wait_until("!document.getElementById('login').hidden")
            await browser.evaluate("document.getElementById('password').value = 'author'")
            await browser.click("#login button")
            await browser.wait_until(f"{LINK} === 'live' && document.getElementById('state').innerText === 'running'")
            await browser.evaluate("document.querySelector('#mode input[value=control]').click()")
            await browser.wait_until(f"{LINK} === 'in control'")
            keys = "[...document.querySelectorAll('#pad button')].map(key => key.innerText)"
            assert await browser.evaluate(keys) == ["\u2190", "\u2192", "Keyboard"]
            assert await browser.evaluate("document.documentElement.scrollWidth") <= 390
    finally:
        await browser.close()
    leftovers.assert_none()
