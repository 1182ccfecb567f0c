"""Pages that behave well and badly, in a real browser on a real screen, over the wire."""

import asyncio
import os
import signal
import tempfile
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

import pytest
import pytest_asyncio
from pluriverse_server.sources.page.devtools import CALL_TIMEOUT_S
from support.agent import Message
from support.pages import SIDE_CLICKS, SIDES, PageRemote, page_remote, short_folder, write_runtime
from support.process_tree import children
from support.rfb import RfbClient
from support.served import PASSWORD
from support.waiting import eventually

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

GOOD = "<script>game.begin(pluriverse.seed)</script>"

# Each is begun by its document, and does its worst when a key is pressed.
PAGES = {
    **dict.fromkeys(("Good", "Other"), ""),
    "Input": "<input autofocus oninput='game.message = value'>",
    "Framed": """<body style="margin:0;box-sizing:border-box;height:100vh;border:1px solid blue">
      <script>game.state = [innerWidth, innerHeight]</script>""",
    "Throws": "<script>on.w = () => Object.defineProperty(game, 'score', { get() { throw Error('oops') } })</script>",
    "Loops": "<script>on.w = () => { for (;;); }</script>",
    "Eats": "<script>on.w = () => { const all = []; for (;;) all.push(new Array(1e6).fill(Math.random())) }</script>",
    "Buffers": """<script>on.w = () => {
      const all = []; setInterval(() => all.push(new Uint8Array(1e8).fill(1)), 10);
    }</script>""",
    "NaN": "<script>on.w = () => { game.score = NaN }</script>",
    "Cyclic": "<script>on.w = () => { const a = []; a.push(a); game.state = a }</script>",
    "Large": "<script>on.w = () => { game.state = 'x'.repeat(1e7) }</script>",
    "Floods": """<script>on.w = () => { for (let i = 0; i < 1e5; i++) { game.score++; pluriverse.push() } }</script>""",
    "Pushes": "<script>on.w = () => { game.score = 5; pluriverse.push(); game.score = 2; pluriverse.push() }</script>",
    "Dialogs": "<script>on.w = () => { alert('a'); confirm('b'); prompt('c'); game.score += 1 }</script>",
    "Alerts": "<script>on.w = () => { for (;;) alert('again') }</script>",
    "Globals": """<script>
      const define = Object.defineProperty;
      for (const name of ["JSON", "setInterval", "setTimeout", "requestAnimationFrame", "Reflect", "Object", "Date"])
        define(window, name, { value: undefined });
      Array.prototype[Symbol.iterator] = Array.prototype.toJSON = Array.prototype.map = () => { throw 1 };
      String.prototype.toJSON = String.prototype.slice = String.prototype.toString = () => { throw 2 };
      Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw 3 };
      Promise.prototype.then = () => { throw 4 };
      EventTarget.prototype.addEventListener = () => { throw 5 };
      for (let i = 0; i < 10000; i++) { clearInterval(i); clearTimeout(i); cancelAnimationFrame(i) }
      game.score = 0; game.message = "ready"; game.running = true;
      onkeydown = () => { game.score += 1 };
    </script>""",
    "Leaves": """<script>
      on.w = () => { location = 'http://example.org/'; setTimeout(() => game.score += 1, 200) }</script>""",
    "Frames": """<script>on.w = () => {
      const frame = document.createElement('iframe'); frame.src = 'http://example.org/'; document.body.append(frame);
      fetch('http://127.0.0.1:15900/', { mode: 'no-cors' }).catch(() => { game.score += 1 });
    }</script>""",
    "Opens": """<body style="margin:0"><a href="Other.html" target=_blank
        style="display:block;width:160px;height:240px;background:green">link</a>
      <button style="position:fixed;left:160px;top:0;width:160px;height:240px"
        onclick="window.open('Other.html', '', 'width=50,height=50'); window.open('about:blank')">open</button>""",
    "Downloads": """<body style="margin:0"><a href="data:text/plain,hello" download="hello.txt"
        onmouseup="game.score += 1" style="display:block;width:320px;height:240px;background:green">link</a>""",
    "Uploads": """<body style="margin:0"><input type=file style="width:320px;height:240px"
        onmouseup="game.score += 1">""",
    "Mail": """<body style="margin:0"><a href="mailto:someone@example.org" onmouseup="game.score += 1"
        style="display:block;width:320px;height:240px;background:green">link</a>""",
    "Sides": SIDES,
    "Moves": "<script>on.w = () => { location = 'Other.html' }</script>",
    "Env": """<script>game.state = { seed: pluriverse.seed, env: pluriverse.env, search: location.search,
      episode: pluriverse.episode, early: document.readyState }</script>""",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def remote() -> AsyncGenerator[PageRemote]:
    with short_folder() as folder:
        async with page_remote(write_runtime(folder, {name: GOOD + page for name, page in PAGES.items()})) as remote:
            yield remote


async def assert_plays(remote: PageRemote) -> None:
    """The remote is up: another episode runs and earns."""
    await remote.play("Good")
    await remote.press("a")
    assert (await remote.agent.hear_method("v0.env.reward", reward=1.0))["body"]["done"] is False


async def test_changes_of_the_value_are_rewards_and_its_end_is_an_outcome(remote: PageRemote) -> None:
    await remote.play("Good", seed=7)
    assert await remote.text() == "seed 7"
    assert remote.status["picture"] == [0, 0, 100, 50]
    for _ in range(2):
        await remote.press("a")
        await remote.agent.hear_method("v0.env.reward", reward=1.0)
    await remote.press("a")
    reward = await remote.agent.hear_method("v0.env.reward", reward=1.0)
    assert abs(reward["body"]["frame_at"] - reward["headers"]["sent_at"]) < 1
    await remote.press("o")
    last = await remote.end()
    assert (last["terminated"], last["truncated"], last["info"]["reason"]) == (True, False, "won")
    await remote.press("a")
    await remote.play("Good")
    await remote.press("x")
    assert await remote.truncated() == "late"


async def test_page_knows_its_seed_environment_and_options_before_its_scripts_run(remote: PageRemote) -> None:
    episode_id = await remote.play("Env", seed=2**31, options={"level": 3})
    state = (await remote.agent.hear_method("v0.env.observation"))["body"]["observation"]
    assert state["env"]["page"] == "Env"
    assert state["env"]["id"] == "pages.Env-v0"
    assert state["env"]["options"] == {"level": 3}
    assert (state["seed"], state["search"]) == (2**31, f"?seed={2**31}")
    assert (state["episode"], state["early"]) == (int(episode_id), "loading")


async def test_page_has_the_whole_screen_to_the_pixel_and_the_keyboard_without_a_click(remote: PageRemote) -> None:
    await remote.play("Input")
    await remote.press("h")
    await remote.until_text("h")
    await remote.play("Framed")
    assert (await remote.agent.hear_method("v0.env.observation"))["body"]["observation"] == [320, 240]
    with RfbClient("127.0.0.1", remote.vnc_port, PASSWORD) as screen:
        # The last corner shows the clock.
        for edge in ((0, 0), (319, 0), (0, 239), (319, 220), (300, 239)):
            screen.wait_for_pixel(*edge, (0, 0, 255))


async def test_pushed_values_are_not_missed(remote: PageRemote) -> None:
    await remote.play("Pushes")
    await remote.press("w")
    await remote.agent.hear_method("v0.env.reward", reward=5.0)
    await remote.agent.hear_method("v0.env.reward", reward=-3.0)


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ("Throws", "page: rewards[0].value: Error: oops"),
        ("Loops", "the page hung: no answer for 3 s"),
        pytest.param("Alerts", "the page hung: no answer for 3 s", marks=pytest.mark.slow),
        ("Eats", "the page's process"),
        ("Buffers", "the page took over"),
        ("NaN", "page: rewards[0].value is NaN, expected a number"),
        ("Cyclic", "page: observation: TypeError: Converting circular structure"),
        ("Large", "page: observation: over"),
        ("Floods", "the page sent more than 1000 messages within a second"),
    ],
)
async def test_page_that_misbehaves_costs_its_episode_and_no_more(remote: PageRemote, page: str, reason: str) -> None:
    await remote.play(page)
    browser = remote.browser()
    await remote.press("w")
    assert (await remote.truncated()).startswith(reason)
    await assert_plays(remote)
    assert remote.browser() == browser
    assert all(abs(message["body"].get("reward", 0)) <= 1e9 for message in remote.agent.heard)


@pytest.mark.parametrize("page", ["Dialogs", "Leaves", "Frames"])
async def test_dialogs_are_answered_and_page_stays_and_loads_where_its_origins_are(
    remote: PageRemote, page: str
) -> None:
    await remote.play(page)
    await remote.press("w")
    await remote.agent.hear_method("v0.env.reward", reward=1.0)


async def test_page_that_spoils_its_globals_is_watched_all_the_same(remote: PageRemote) -> None:
    await remote.play("Globals")
    await remote.until_text("ready")
    await remote.press("q")
    await remote.agent.hear_method("v0.env.reward", reward=1.0)


async def test_page_may_move_within_its_origins_and_is_watched_there(remote: PageRemote) -> None:
    await remote.play("Moves", seed=3)
    await remote.until_text("seed 3")
    await remote.press("w")
    await remote.until_text("seed 3")
    await remote.press("a")
    await remote.agent.hear_method("v0.env.reward", reward=1.0)


@pytest.mark.parametrize("place", [pytest.param(80, marks=pytest.mark.slow), 240], ids=["link", "window.open"])
async def test_new_windows_are_closed_and_the_page_keeps_the_keyboard(remote: PageRemote, place: int) -> None:
    await remote.play("Opens")
    await remote.click(place, 120)
    await remote.click(place, 120, button=2)
    async with asyncio.timeout(60):
        while True:
            await remote.press("a")
            if (await remote.agent.hear_method("v0.env.reward"))["body"]["reward"]:
                break


@pytest.mark.parametrize("by_vnc", [False, True])
async def test_back_and_forward_are_the_pages_buttons_and_leave_nothing(remote: PageRemote, by_vnc: bool) -> None:
    await remote.play("Sides")
    await remote.click(160, 120)
    await remote.press("w")
    if by_vnc:
        with await asyncio.to_thread(
            lambda: RfbClient("127.0.0.1", remote.vnc_port, PASSWORD, nine_buttons=True)
        ) as client:
            for mask in (128, 0, 256, 0):
                client.pointer(160, 120, mask)
            said = await remote.agent.hear_until(lambda message: last_side(message) == SIDE_CLICKS[-1])
    else:
        for button in (8, 9):
            await remote.click(160, 120, button)
        said = await remote.agent.hear_until(lambda message: last_side(message) == SIDE_CLICKS[-1])
    assert said["body"]["observation"] == SIDE_CLICKS
    # What left the page would be told before this.
    await remote.press("a")
    await remote.agent.hear_method("v0.env.reward", reward=1.0)
    assert said == [message for message in remote.agent.heard if last_side(message) is not None][-1]


def last_side(message: Message) -> Any:
    """What the page of buttons says last in a message; None if it is none of its."""
    observed: Any = message["body"].get("observation") if message["method"] == "v0.env.observation" else None
    return cast("list[Any]", observed)[-1] if isinstance(observed, list) and observed else None


@pytest.mark.parametrize(("page", "button"), [("Downloads", 1), ("Downloads", 3), ("Uploads", 1), ("Mail", 1)])
async def test_nothing_of_the_browsers_own_opens_over_the_page(remote: PageRemote, page: str, button: int) -> None:
    await remote.play(page)
    await remote.click(160, 120, button)
    await remote.agent.hear_method("v0.env.reward", reward=1.0)
    await remote.press("a")
    await remote.agent.hear_method("v0.env.reward", reward=1.0)
    assert not downloads()


def downloads() -> list[Path]:
    return list(Path(tempfile.gettempdir()).glob(f"pluriverse-{os.getpid()}-*/**/hello*"))


async def test_killed_browser_truncates_and_is_started_again(remote: PageRemote) -> None:
    await remote.play("Good")
    os.kill(remote.browser(), signal.SIGKILL)
    assert await remote.truncated() == "browser killed by SIGKILL"
    await assert_plays(remote)


async def test_crashed_page_truncates_and_is_replaced(remote: PageRemote) -> None:
    await remote.play("Good")
    browser = remote.browser()
    await eventually(renderers)
    os.kill(renderers()[-1], signal.SIGSEGV)
    assert (await remote.truncated()).startswith("the page's process")
    await assert_plays(remote)
    assert remote.browser() == browser


async def test_reset_that_meets_a_dying_page_begins_as_soon_as_that_is_replaced(remote: PageRemote) -> None:
    await remote.play("Good")
    await eventually(renderers)
    page = renderers()[-1]
    # It answers nothing of what begins the next episode, and is heard to have ended only after that was sent.
    os.kill(page, signal.SIGSTOP)
    playing = asyncio.create_task(remote.play("Good"))
    await asyncio.sleep(0.1)
    began = time.monotonic()
    os.kill(page, signal.SIGKILL)
    await playing
    assert time.monotonic() - began < CALL_TIMEOUT_S - 1


def renderers() -> list[int]:
    """The process ids of the browser's pages, the newest last."""
    return [child.pid for child in children("--type=renderer")]
