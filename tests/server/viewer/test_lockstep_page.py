"""A person who plays in lockstep, in a real browser before a whole remote."""

import contextlib
import json
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from support.agent import connected
from support.chromium import Chromium
from support.remotes import MachineRemote, on_machine

pytestmark = pytest.mark.browser

LEFT = 0xFF51
IN_CONTROL = "document.getElementById('link').innerText === 'in control'"
CLOCK = "document.querySelector('[data-field=clock]').innerText"
HINT = "document.getElementById('hint').innerText"
SECONDS_AND_CURVE = (
    "document.querySelector('[data-field=seconds]').innerText + document.querySelector('#plot .end').innerText"
    " + document.querySelector('#plot .curve').getAttribute('d')"
)
PICTURE = (
    "(() => { const probe = new OffscreenCanvas(160, 210).getContext('2d', { willReadFrequently: true });"
    " probe.drawImage(document.querySelector('.surface:not([data-gone]) canvas'), 0, 0);"
    " return probe.getImageData(0, 0, 160, 210).data.join() })()"
)
SHOWN = "document.getElementById('time').checkVisibility()"

# What the page says on its step channel, and when; how often it is answered; and the WebSockets that it speaks on.
LISTEN = """
window.steps = []; window.sockets = new Set(); window.answers = 0; window.largest = 0; window.moments = 0;
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (data) {
  sockets.add(this);
  if (this.url.includes("/step") && !this.heard) {
    this.heard = true;
    this.addEventListener("message", ({ data }) => {
      const text = new TextDecoder().decode(data);
      if (text.includes('"v0.reply.agent.snapshot"') || text.includes('"v0.reply.agent.restore"')) window.moments += 1;
      else window.answers += 1;
      window.largest = Math.max(window.largest, data.byteLength);
    });
  }
  const said = typeof data === "string" ? JSON.parse(data) : {};
  if (said.method === "v0.agent.step") steps.push({ at: performance.now(), ...said.body });
  return send.call(this, data);
};
"""


@pytest.fixture(scope="module")
def remote() -> Iterator[MachineRemote]:
    """A remote that plays Pong, for all tests."""
    with on_machine() as running:
        yield running


@contextlib.asynccontextmanager
async def controlling(remote: MachineRemote, profile: Path) -> AsyncGenerator[Chromium]:
    chromium = await Chromium.start(profile)
    try:
        await chromium.call("Page.addScriptToEvaluateOnNewDocument", source=LISTEN)
        await chromium.open(f"http://127.0.0.1:{remote.port}/viewer/?password={remote.password}&control=1")
        await chromium.wait_until(IN_CONTROL)
        yield chromium
    finally:
        await chromium.close()


@pytest_asyncio.fixture
async def browser(remote: MachineRemote, tmp_path: Path) -> AsyncGenerator[Chromium]:
    """A browser whose player is in control of the remote."""
    async with controlling(remote, tmp_path) as chromium:
        yield chromium


async def press(browser: Chromium, button: str) -> None:
    await browser.wait_until(f"document.getElementById('{button}').checkVisibility()")
    await browser.click(f"#{button}")


async def choose(browser: Chromium, speed: str) -> None:
    """Choose a speed; what was stepped before it is forgotten."""
    await browser.evaluate(
        f"(() => {{ const select = document.getElementById('speed'); select.value = '{speed}';"
        " select.dispatchEvent(new Event('change', { bubbles: true })); steps.length = 0; })()"
    )


async def stepped(browser: Chromium, count: int) -> list[dict[str, Any]]:
    """The steps that were asked for, once there are so many."""
    return json.loads(await browser.wait_until(f"steps.length >= {count} && JSON.stringify(steps)"))


async def stands_still(browser: Chromium) -> int:
    """How many steps were asked for, once all are answered, and half a second later the same."""
    await browser.wait_until("answers >= steps.length")
    # Pictures come over VNC; a whole one is 100,800 bytes.
    assert await browser.evaluate("largest") < 1000
    before = await browser.evaluate("steps.length")
    await browser.evaluate("new Promise((resolve) => setTimeout(resolve, 500))")
    assert await browser.evaluate("steps.length") == before
    return before


async def test_time_stops_goes_on_by_a_frame_and_is_given_back(browser: Chromium) -> None:
    await browser.wait_until(f"{CLOCK} === 'real time'")
    await press(browser, "lockstep")
    await browser.wait_until(f"{CLOCK} === 'lockstep'")
    assert {step["frames"] for step in await stepped(browser, 10)} == {1}
    await browser.resize(700, 700)
    # It may be longer than its window, which takes a scroll bar, but no wider.
    beyond = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert await browser.evaluate(beyond) == 0
    await press(browser, "pause")
    await browser.wait_until("document.getElementById('state').innerText === 'paused'")
    before = await stands_still(browser)
    shown = await browser.evaluate(SECONDS_AND_CURVE)
    await browser.evaluate("new Promise((resolve) => setTimeout(resolve, 1500))")
    assert await browser.evaluate(SECONDS_AND_CURVE) == shown
    await press(browser, "step")
    assert len(await stepped(browser, before + 1)) == await stands_still(browser) == before + 1
    await browser.press("F10", "F10", 121)
    assert len(await stepped(browser, before + 2)) == await stands_still(browser) == before + 2
    await browser.press("F9", "F9", 120)
    await stepped(browser, before + 10)
    await browser.wait_until("document.getElementById('state').innerText === 'running'")
    await press(browser, "lockstep")
    await browser.wait_until(f"{CLOCK} === 'real time'")
    assert browser.errors == []


async def test_keys_go_into_the_steps(browser: Chromium) -> None:
    await press(browser, "lockstep")
    await stepped(browser, 1)
    await press(browser, "pause")
    await stands_still(browser)
    await browser.evaluate("document.querySelector('.surface canvas').focus(); steps.length = answers = 0")
    await browser.press("ArrowLeft", "ArrowLeft", 37)
    await press(browser, "step")
    (step,) = await stepped(browser, 1)
    assert [event for event in step["events"] if event[0] == "KeyEvent"] == [
        ["KeyEvent", LEFT, True],
        ["KeyEvent", LEFT, False],
    ]
    # Of the way to the button the last place is enough.
    assert len([event for event in step["events"] if event[0] == "PointerEvent"]) <= 2


async def test_speeds_are_kept_to(browser: Chromium) -> None:
    await press(browser, "lockstep")
    await stepped(browser, 1)
    await choose(browser, "0.25")
    steps = (await stepped(browser, 8))[1:]
    assert {step["frames"] for step in steps} == {1}
    assert steps[-1]["at"] - steps[0]["at"] > 5 * 4000 / 60
    await choose(browser, "16")
    steps = (await stepped(browser, 12))[2:]
    assert {step["frames"] for step in steps} == {16}
    assert steps[-1]["at"] - steps[0]["at"] > 7 * 1000 / 60
    await choose(browser, "Infinity")
    await browser.wait_until("steps.some((step) => step.frames > 1)")
    assert browser.errors == []


async def test_agent_that_has_the_seat_keeps_its_time(remote: MachineRemote, browser: Chromium) -> None:
    async with connected(remote.port, remote.password) as agent:
        await agent.hear_reply(await agent.send("v0.control.ping", {}))
        await press(browser, "lockstep")
        await browser.wait_until(f"{HINT}.includes('another agent plays it')")
        assert await browser.evaluate("document.getElementById('lockstep').ariaPressed") == "false"
    await press(browser, "lockstep")
    await browser.wait_until(f"{CLOCK} === 'lockstep'")


async def test_broken_line_is_told_until_it_is_back(browser: Chromium) -> None:
    await press(browser, "lockstep")
    await stepped(browser, 1)
    await browser.evaluate(
        "window.hints = []; const hint = document.getElementById('hint');"
        " new MutationObserver(() => hints.push(hint.innerText)).observe(hint, { childList: true });"
        " for (const socket of sockets) socket.close();"
    )
    await browser.wait_until("hints.includes('No lockstep: the connection broke')")
    await browser.wait_until(f"{IN_CONTROL} && {HINT}.startsWith('Keys and mouse go to the remote.')")
    assert await browser.evaluate("document.getElementById('notice').hidden")


@pytest.mark.slow
async def test_who_only_watches_or_leaves_has_no_clock(remote: MachineRemote, browser: Chromium) -> None:
    await press(browser, "lockstep")
    await stepped(browser, 1)
    await browser.evaluate("document.querySelector('#mode input[value=watch]').click()")
    await browser.wait_until(f"!({SHOWN})")
    await browser.wait_until(f"{CLOCK} === 'real time'")
    await browser.evaluate("document.querySelector('#mode input[value=control]').click()")
    await press(browser, "lockstep")
    await browser.wait_until(f"{CLOCK} === 'lockstep'")
    await browser.open("about:blank")
    await browser.open(f"http://127.0.0.1:{remote.port}/viewer/?password={remote.password}")
    await browser.wait_until(f"{CLOCK} === 'real time'")


async def enter(browser: Chromium, name: str) -> None:
    await browser.evaluate(f"document.getElementById('moment-name').value = '{name}'")


async def test_moment_is_saved_under_a_name_and_gone_back_to(browser: Chromium) -> None:
    await press(browser, "lockstep")
    await stepped(browser, 1)
    await press(browser, "pause")
    await stands_still(browser)
    await browser.evaluate("document.querySelector('.surface canvas').focus()")
    held = {"key": "ArrowLeft", "code": "ArrowLeft", "windowsVirtualKeyCode": 37}
    await browser.call("Input.dispatchKeyEvent", type="keyDown", **held)
    await press(browser, "step")
    await stands_still(browser)
    await enter(browser, "here")
    await press(browser, "save")
    await browser.wait_until("moments === 1")
    saved = await browser.evaluate(PICTURE)
    await press(browser, "pause")
    await stepped(browser, 60)
    await press(browser, "pause")
    await stands_still(browser)
    assert await browser.evaluate(PICTURE) != saved
    await press(browser, "back")
    await browser.wait_until(f"moments === 2 && {PICTURE} === {json.dumps(saved)}")
    await browser.evaluate("steps.length = answers = 0")
    await press(browser, "step")
    (step,) = await stepped(browser, 1)
    # It was held when the moment was saved, and no longer is.
    assert ["KeyEvent", LEFT, False] in step["events"]
    await enter(browser, "there")
    await press(browser, "back")
    await browser.wait_until(f"{HINT}.includes('Unknown snapshot') && {HINT}.includes('there')")
    assert browser.errors == []


@pytest.mark.slow
async def test_program_that_cant_be_saved_says_so(tmp_path: Path) -> None:
    with on_machine("--env", "gym-core.LunarLander-v3") as remote:
        async with controlling(remote, tmp_path) as browser:
            await press(browser, "lockstep")
            await stepped(browser, 1)
            await enter(browser, "here")
            await press(browser, "save")
            await browser.wait_until(f"{HINT} === 'This program can\\'t be saved.'")
