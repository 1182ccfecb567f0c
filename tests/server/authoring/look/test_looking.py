"""A look at real programs: on a screen, in a browser's page."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from pluriverse_protocol.events import KeyEvent
from pluriverse_server.authoring.init import TEMPLATES
from pluriverse_server.authoring.look.beginning import begin
from pluriverse_server.authoring.look.looked_at import LookedAt
from pluriverse_server.authoring.look.looking import Looking
from pluriverse_server.authoring.look.notebook import Notebook
from pluriverse_server.authoring.look.server import serving
from pluriverse_server.cli import app
from pluriverse_server.display import AsyncInjector
from pluriverse_server.manifest.draft import DRAFT_VARIABLE
from pluriverse_server.manifest.runtime import load
from pluriverse_server.manifest.spaces import keysym
from pluriverse_server.programs.scraped import PRINTED_VARIABLE
from pluriverse_server.settings import Settings
from support.chromium import Chromium
from support.ports import free_port
from support.scraped import HEIGHT, PROGRAM, WIDTH
from typer.testing import CliRunner

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><p id="score">1,250 points</p><p id="over" style="visibility: hidden">Game over</p>
<script>const game = { score: 1250 };</script>"""


@contextlib.asynccontextmanager
async def looked_at(
    words: Sequence[str], folder: Path, monkeypatch: pytest.MonkeyPatch, screen: tuple[int, int] = (320, 240)
) -> AsyncGenerator[tuple[Looking, str]]:
    """A look at a program or page, and the address of its page."""
    monkeypatch.setitem(os.environ, DRAFT_VARIABLE, "1")
    monkeypatch.setitem(os.environ, PRINTED_VARIABLE, "1")
    begin(words, folder, screen)
    looking = Looking(Notebook(folder), Settings(folder, vnc_port=free_port(), rewarder_port=free_port()))
    started = asyncio.Event()
    running = asyncio.create_task(looking.remote.run(started.set))
    try:
        async with asyncio.timeout(60):
            await started.wait()
        async with serving(looking) as address:
            yield looking, address
    finally:
        looking.remote.stop()
        await running


@pytest.fixture
async def browser(tmp_path: Path) -> AsyncGenerator[Chromium]:
    chromium = await Chromium.start(tmp_path / "profile")
    yield chromium
    await chromium.close()


async def look_in(browser: Chromium, address: str) -> None:
    """Open the page, and have the still picture."""
    await browser.open(address)
    await browser.wait_until("document.getElementById('env').textContent === 'mine.Mine-v0 · running'", 90)
    await browser.evaluate("document.querySelector('#mode input[value=look]').click()")
    await browser.wait_until("document.getElementById('picture').getBoundingClientRect().width >= 320")


async def drag(browser: Chromium, region: tuple[int, int, int, int]) -> None:
    """Drag a region of the still picture, in pixels of the screen."""
    x, y, width, height = region
    corners = await browser.evaluate(
        f"""(() => {{
          const canvas = document.getElementById('picture');
          const {{left, top, width}} = canvas.getBoundingClientRect(), scale = width / canvas.width;
          const at = (x, y) => [left + (x + 0.5) * scale, top + (y + 0.5) * scale];
          return [at({x}, {y}), at({x + width - 1}, {y + height - 1})];
        }})()"""
    )
    for what, (left, top) in zip(("mousePressed", "mouseMoved", "mouseReleased"), (*corners, corners[1]), strict=True):
        held = {"button": "left", "buttons": 1, "clickCount": 1}
        await browser.call("Input.dispatchMouseEvent", type=what, x=left, y=top, **held)


def row_of(section: str, how: str) -> str:
    """The first row of a section's table that begins so, as JavaScript."""
    return f"[...document.querySelectorAll('#{section} tbody tr')].find(row => row.innerText.startsWith('{how}'))"


async def test_what_is_chosen_in_a_still_picture_is_written_and_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, browser: Chromium
) -> None:
    (tmp_path / "game.py").write_bytes((TEMPLATES / "game.py").read_bytes())
    folder = tmp_path / "mine"
    async with looked_at(["python", str(tmp_path / "game.py")], folder, monkeypatch) as (_, address):
        await look_in(browser, address)
        await drag(browser, (100, 100, 120, 40))
        row = row_of("reading", "share of #2e8b57")
        await browser.wait_until(f"{row} !== undefined")
        assert await browser.evaluate("document.getElementById('place').textContent") == "[100, 100, 120, 40]"
        assert "110, 110 · #2e8b57" in await magnified(browser, 110, 110)
        await browser.evaluate(f"{row}.querySelector('button').click()")
        await browser.evaluate("document.getElementById('name').value = 'title'")
        await browser.evaluate("document.querySelector('#naming form').requestSubmit()")
        source = "document.querySelector('#chosen tbody tr')?.innerText.replace(/\\s+/g, ' ') ?? ''"
        await browser.wait_until(f"{source}.startsWith('title 1 100 %')")
        assert not browser.errors
    text = (folder / "runtime.toml").read_text()
    assert "# Chosen as share of #2e8b57: it was 1 then, 100 % sure.\n[sources.title]\n" in text
    assert load(folder).sources["title"].model_dump(by_alias=True)["region"] == [100, 100, 120, 40]


SHAPES = """
from Xlib import X, display
screen = (shown := display.Display()).screen()
window = screen.root.create_window(
    0, 0, 320, 240, 0, screen.root_depth, background_pixel=0x182030, event_mask=X.ExposureMask
)
window.map()
while shown.next_event():
    def gc(colour):
        return window.create_gc(foreground=colour)
    window.fill_rectangle(gc(0x20A030), 10, 10, 30, 30)
    for x in (100, 125, 150):
        window.fill_poly(gc(0xE03050), X.Convex, X.CoordModeOrigin, [(x, 20), (x + 16, 20), (x + 8, 36)])
    window.fill_arc(gc(0x606468), 20, 100, 80, 80, 0, 360 * 64)
    window.fill_arc(gc(0xE0A020), 20, 100, 80, 80, 90 * 64, -90 * 64)
    window.fill_rectangle(gc(0xD02010), 150, 100, 60, 12)
    shown.flush()
"""

# For each name the region to drag, how it is read, and what the list of sources then says of it.
CHOICES = {
    "lamp": ((20, 20, 1, 1), "colour at 20, 20: #20a030", "lamp green 100 %"),
    "lives": ((90, 14, 100, 28), "count of the picture of", "lives 3 100 %"),
    "dial": ((20, 100, 80, 80), "dial of #e0a020, clockwise from 0°", "dial 0.25"),
    "bar": ((150, 100, 100, 12), "bar of #d02010, to the right", "bar 0.6 100 %"),
    "own": ((5, 5, 60, 60), "by Python", "own \u2013 0 %"),
}


async def test_what_each_reader_offers_is_written_and_is_a_valid_runtime(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, browser: Chromium
) -> None:
    (tmp_path / "shapes.py").write_text(SHAPES)
    folder = tmp_path / "mine"
    async with looked_at(["python", str(tmp_path / "shapes.py")], folder, monkeypatch) as (_, address):
        await look_in(browser, address)
        while "#20a030" not in await magnified(browser, 25, 25):
            await browser.evaluate("document.getElementById('again').click()")
            await asyncio.sleep(0.2)  # the program has its window before it has drawn in it
        for name, (region, how, now) in CHOICES.items():
            await drag(browser, region)
            row = row_of("reading", how)
            place = f"document.getElementById('place').textContent === '[{', '.join(map(str, region))}]'"
            await browser.wait_until(f"{place} && {row} !== undefined")
            # Nobody has to scroll sideways to choose.
            wide = "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('aside'))"
            assert await browser.evaluate(wide) == 0
            await browser.evaluate(f"{row}.querySelector('button').click()")
            await browser.evaluate(f"document.getElementById('name').value = '{name}'")
            await browser.evaluate("document.getElementById('reward').checked = false")
            await browser.evaluate("document.querySelector('#naming form').requestSubmit()")
            rows = "[...document.querySelectorAll('#chosen tbody tr')].map(row => row.innerText.replace(/\\s+/g, ' '))"
            await browser.wait_until(f"{rows}.some(row => row.startsWith('{now}'))")
        assert not browser.errors
    await assert_valid(folder)
    assert {name: source.from_ for name, source in load(folder).sources.items()} == {
        **dict.fromkeys(CHOICES, "screen"),
        "own": "python",
    }


async def test_regions_and_paths_of_a_page_are_chosen_from_its_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, browser: Chromium
) -> None:
    (tmp_path / "game.html").write_text(PAGE)
    folder = tmp_path / "mine"
    async with looked_at([str(tmp_path / "game.html")], folder, monkeypatch) as (_, address):
        await look_in(browser, address)
        await drag(browser, (8, 12, 80, 26))
        await choose_of_page(browser, "reading", "number in #score", "reward")
        await browser.evaluate("document.getElementById('list').click()")
        await choose_of_page(browser, "things", "#score", "text")
        await choose_of_page(browser, "things", "#over", "done")
        assert not browser.errors
    await assert_valid(folder)
    game = load(folder)
    assert game.page is not None
    assert game.page.text == 'document.querySelector("#score").textContent'
    (reward,) = game.rewards
    page = (tmp_path / "game.html").as_uri()
    assert await evaluated(browser, page, f"{reward.value}") == 1250
    hidden = "document.querySelector('#over').style.visibility"
    assert not await evaluated(browser, page, f"{game.page.done}")
    assert await evaluated(browser, page, f"{hidden} = '', {game.page.done}") == "Game over"
    assert await evaluated(browser, page, f"document.querySelector('#score').textContent = '', {reward.value}") is None


async def evaluated(browser: Chromium, page: str, expression: str) -> Any:
    """What an expression of a runtime.toml comes to in the page itself."""
    await browser.open(page)
    return await browser.evaluate(expression)


async def assert_valid(folder: Path) -> None:
    """Check a runtime as its author does."""
    checked = await asyncio.to_thread(CliRunner().invoke, app, ["validate", str(folder)])
    assert checked.exit_code == 0, checked.output


async def choose_of_page(browser: Chromium, section: str, how: str, use: str) -> None:
    row = row_of(section, how)
    await browser.wait_until(f"{row} !== undefined")
    await browser.evaluate(f"{row}.querySelector('button').click()")
    await browser.evaluate(f"document.getElementById('use').value = '{use}'")
    await browser.evaluate("document.querySelector('#naming form').requestSubmit()")
    await browser.wait_until("document.getElementById('naming').hidden")


async def magnified(browser: Chromium, x: int, y: int) -> str:
    await browser.evaluate(
        f"""(() => {{
          const canvas = document.getElementById('picture');
          const {{left, top, width}} = canvas.getBoundingClientRect(), scale = width / canvas.width;
          const place = {{ clientX: left + ({x} + 0.5) * scale, clientY: top + ({y} + 0.5) * scale, bubbles: true }};
          canvas.dispatchEvent(new PointerEvent('pointermove', place));
        }})()"""
    )
    return await browser.evaluate("document.querySelector('#magnifier figcaption').textContent")


class Asked:
    """The page's server, asked as the page asks it."""

    def __init__(self, address: str, session: aiohttp.ClientSession) -> None:
        self._address = address
        self._session = session

    async def state(self) -> dict[str, Any]:
        async with self._session.get(f"{self._address}state") as answer:
            assert answer.status == 200
            return await answer.json()

    async def ask(self, word: str, **question: Any) -> Any:
        async with self._session.post(f"{self._address}ask/{word}", json=question) as answer:
            return await answer.json() if answer.status == 200 else (answer.status, await answer.text())

    async def until_running(self) -> None:
        await self.until(lambda state: state["remote"].get("env_state") == "running")

    async def until(self, holds: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        async with asyncio.timeout(90):
            while not holds(state := await self.state()):  # noqa: ASYNC110 - a page asks again and again, too
                await asyncio.sleep(0.1)
            return state


@contextlib.asynccontextmanager
async def asking(
    words: Sequence[str], folder: Path, monkeypatch: pytest.MonkeyPatch, screen: tuple[int, int]
) -> AsyncGenerator[Asked]:
    async with looked_at(words, folder, monkeypatch, screen) as (_, address), aiohttp.ClientSession() as session:
        asked = Asked(address, session)
        await asked.until_running()
        yield asked


async def test_a_program_is_searched_for_its_score_and_its_reset_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "game.py").write_text(PROGRAM)
    folder = tmp_path / "mine"
    async with asking(["python", str(tmp_path / "game.py")], folder, monkeypatch, (WIDTH, HEIGHT)) as asked:
        program = LookedAt.find()
        assert program is not None
        screen = program.environment
        injector = await AsyncInjector.open(screen["DISPLAY"], Path(screen["XAUTHORITY"]))

        async def press(key: str) -> None:
            await injector.apply([KeyEvent(keysym(key), True), KeyEvent(keysym(key), False)])

        assert await asked.ask("record", on=True) == {"steps": []}
        await press("Return")
        await asyncio.sleep(0.5)  # what is pressed arrives on another connection
        steps = (await asked.ask("record", on=False))["steps"]
        assert steps == [{"keys": ["Return"]}]
        assert await asked.ask("steps", steps=steps, by="keys") == {}
        found: list[dict[str, Any]] = []
        for score in (1, 2):
            await press("Right")
            await asked.until(lambda state, score=score: f"score {score}\n" in state["printed"])
            found = (await asked.ask("find", value=str(score)))["found"]
        printed = next(one for one in found if one["how"] == "“score 2” printed")
        assert await asked.ask("choose", name="score", reward=True, **printed) == {}
        await asked.until(lambda state: [source["name"] for source in state["sources"]] == ["score"])
        await press("Right")
        await asked.until(lambda state: state["sources"][0]["value"] == 3)
        status, why = await asked.ask("choose", name="Score", **printed)
        assert (status, "sources.Score" in why) == (409, True)
        assert (await asked.ask("nothing"))[0] == 404
        assert (await asked.ask("choose"))[0] == 400
        await injector.close()
    game = load(folder)
    assert [step.keys for step in game.reset.steps] == [[keysym("Return")]]
    assert [reward.source for reward in game.rewards] == ["score"]


async def test_a_page_is_searched_too_and_runs_anew_with_what_was_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "game.html").write_text(PAGE)
    folder = tmp_path / "mine"
    async with asking([str(tmp_path / "game.html")], folder, monkeypatch, (WIDTH, HEIGHT)) as asked:
        assert (await asked.state())["remote"]["rewarded"] is False
        tree = (await asked.ask("page"))["found"]
        assert [(one["how"], one["value"]) for one in tree] == [
            ("#score", "1,250 points"),
            ("number in #score", 1250),
            ("#over", "Game over"),
            ("game.score", 1250),
        ]
        found = (await asked.ask("find", value="1250"))["found"]
        assert [one["how"] for one in found] == ["number in #score", "game.score"]
        assert await asked.ask("page-expression", expression="game.score", use="reward", value=1250) == {}
        assert await asked.ask("restart") == {}
        await asked.until(lambda state: state["remote"].get("rewarded") and state["remote"]["env_state"] == "running")
    assert [reward.value for reward in load(folder).rewards] == ["game.score"]
