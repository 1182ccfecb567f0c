import contextlib
import time
from collections.abc import Generator, Mapping
from typing import Any

import numpy as np
import pytest
from pluriverse_protocol import metadata
from pluriverse_server.sound import FILE, SoundFile
from support.chromium import Chromium
from support.desktop import Desktop
from support.viewer_remote import EYE, LIVE, PASSWORD, Remote, opened
from support.waiting import eventually

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

UNKNOWN = "\u2013"
GREEN = (24, 160, 88)

LOST = "document.getElementById('link').dataset.link === 'lost' && !document.getElementById('notice').hidden"
LOGIN = "!document.getElementById('login').hidden"
PASSWORD_FIELD = "document.getElementById('password')"
TAKE_CONTROL = "document.querySelector('#mode input[value=control]').click()"
VIEW_ONLY = "document.querySelector('#mode input[value=watch]').click()"


# Of a game that is played with the arrows, space and a letter.
KEYS = [[0xFF51, "left"], [0xFF53, "right"], [0x20, "fire"], [ord("p"), ""]]
PAD = "[...document.querySelectorAll('#pad button')].filter(key => key.checkVisibility()).map(key => key.innerText)"


def field(name: str) -> str:
    return f"document.querySelector('[data-field={name}]').innerText"


def pixel(x: int, y: int, rgb: tuple[int, int, int]) -> str:
    """Whether the picture has a colour at a pixel of the remote's screen."""
    return (
        f"(() => {{ const canvas = document.querySelector('.surface:not([data-gone]) canvas');"
        " if (canvas?.width !== 400) return false;"
        " const probe = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });"
        f" probe.drawImage(canvas, {x}, {y}, 1, 1, 0, 0, 1, 1);"
        f" return String(probe.getImageData(0, 0, 1, 1).data) === '{rgb[0]},{rgb[1]},{rgb[2]},255' }})()"
    )


async def test_page_shows_the_screen_and_speaks_to_no_one_else(
    remote: Remote, desktop: Desktop, browser: Chromium
) -> None:
    await opened(browser, remote)
    desktop.fill(100, 80, 60, 60, GREEN)
    await browser.wait_until(pixel(130, 110, GREEN))
    assert await browser.evaluate("location.search") == ""
    addresses = await browser.evaluate("performance.getEntries().map(e => e.name).filter(n => n.includes('://'))")
    assert len(addresses) > 10
    assert all(address.startswith(remote.url("")) for address in addresses), addresses
    assert browser.errors == []


async def test_state_appears_and_follows_the_remote(remote: Remote, desktop: Desktop, browser: Chromium) -> None:
    del desktop
    await browser.open(remote.url("?password=sesame"))
    await browser.wait_until(f"{field('reward')} === '3'")
    shown = await browser.evaluate("document.body.innerText")
    for text in ("gym-core.Pong-v3", "\n7\n", "running", "0:12", "59.9 of 60", "2 of 750", "4.3 ms", "time limit"):
        assert text in shown.replace("\xa0", " "), (text, shown)
    assert await browser.evaluate(field("agent_round_trip")) == UNKNOWN
    await browser.wait_until(f"{field('viewers')} === '1'")
    remote.state |= {"episode_reward": -4.5, "episode_id": "8", "env_state": "resetting"}
    remote.sessions.changed()
    await browser.wait_until(f"{field('reward')} === '\u22124.5' && {field('episode_id')} === '8'")
    assert await browser.evaluate("document.getElementById('state').innerText") == "resetting"
    assert browser.errors == []


async def test_age_of_the_picture_is_read_from_its_pixels(remote: Remote, desktop: Desktop, browser: Chromium) -> None:
    remote.state["metadata"] = {"x": 200, "y": 120}
    await opened(browser, remote)
    age = 5000
    deadline = time.monotonic() + 60
    shown = UNKNOWN
    while not shown.startswith("50") and time.monotonic() < deadline:
        painted = round(time.time() * 1000) - age
        desktop.pixels(200, 120, metadata.encode(metadata.Metadata(clock=painted, probe=0)))
        shown = await browser.evaluate(field("picture_age"))
    # What was painted as five seconds old takes some milliseconds more to get here.
    assert age - 50 <= int(shown.removesuffix(" ms")) < age + 5000, shown
    assert browser.errors == []


async def test_missing_password_is_asked_for_and_a_wrong_one_again(
    remote: Remote, desktop: Desktop, browser: Chromium
) -> None:
    del desktop
    await browser.open(remote.url(""))
    await browser.wait_until(LOGIN)
    assert await browser.evaluate("document.getElementById('login-error').innerText") == ""
    assert await browser.evaluate(f"document.activeElement === {PASSWORD_FIELD}")
    await browser.evaluate(f"{PASSWORD_FIELD}.value = 'wrong'")
    await browser.click("#login button")
    await browser.wait_until(f"{LOGIN} && document.getElementById('login-error').innerText")
    await browser.evaluate(f"{PASSWORD_FIELD}.value = 'sesame'")
    await browser.press("\r", "Enter", 13)
    await browser.wait_until(LIVE)
    assert not await browser.evaluate(LOGIN)
    # The tab remembers it.
    await browser.open(remote.url(""))
    await browser.wait_until(LIVE)
    assert browser.errors == []


async def test_password_opens_the_vnc_server_too(remote: Remote, bare_desktop: Desktop, browser: Chromium) -> None:
    await bare_desktop.stop_vnc()
    await bare_desktop.start_vnc(password=PASSWORD)
    await opened(browser, remote)
    bare_desktop.fill(100, 80, 60, 60, GREEN)
    await browser.wait_until(pixel(130, 110, GREEN))


async def test_keys_and_clicks_reach_the_screen_only_in_control(
    remote: Remote, desktop: Desktop, browser: Chromium
) -> None:
    await opened(browser, remote)
    await browser.click("#screen canvas")
    await browser.press("a", "KeyA", 65)
    await browser.evaluate(TAKE_CONTROL)
    await browser.wait_until(f"{LIVE} && document.getElementById('link').innerText === 'in control'")
    assert await browser.evaluate("location.search") == "?control=1"
    await browser.press("b", "KeyB", 66)
    await browser.click("#screen canvas")
    await desktop.wait_for_inputs([("key", ord("b")), ("button", 1)])
    await browser.press("F8", "F8", 119)
    assert await browser.evaluate("document.activeElement.name") == "mode"
    await browser.press("c", "KeyC", 67)
    await browser.evaluate(VIEW_ONLY)
    await browser.wait_until(f"{LIVE} && document.getElementById('link').innerText === 'live'")
    await browser.press("d", "KeyD", 68)
    await browser.evaluate(TAKE_CONTROL)
    await browser.wait_until(f"{LIVE} && document.getElementById('link').innerText === 'in control'")
    await browser.press("e", "KeyE", 69)
    await desktop.wait_for_inputs([("key", ord("e"))])
    assert browser.errors == []


async def test_who_takes_control_sees_the_keys_of_the_game_and_can_press_them_there(
    remote: Remote, desktop: Desktop, browser: Chromium
) -> None:
    remote.state["keys"] = KEYS
    await opened(browser, remote)
    assert await browser.evaluate(PAD) == []
    await browser.evaluate(TAKE_CONTROL)
    await browser.wait_until(f"{LIVE} && document.getElementById('link').innerText === 'in control'")
    await browser.wait_until(f"String({PAD}) === '←,→,Space fire,p'")
    await browser.click("#pad button:nth-child(4)")
    await browser.press("b", "KeyB", 66)
    await desktop.wait_for_inputs([("key", ord("p")), ("key", ord("b"))])
    assert browser.errors == []


async def test_screen_without_a_keyboard_has_one_that_types(
    remote: Remote, desktop: Desktop, browser: Chromium
) -> None:
    await browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
    try:
        await browser.open(remote.url("?password=sesame&control=1"))
        await browser.wait_until(f"{LIVE} && String({PAD}) === 'Keyboard'")
        await browser.evaluate("document.getElementById('keyboard').click()")
        await browser.call("Input.insertText", text="ab")
        await browser.press("Backspace", "Backspace", 8)
        await desktop.wait_for_inputs([("key", ord("a")), ("key", ord("b")), ("key", 0xFF08)])
    finally:
        await browser.call("Emulation.setTouchEmulationEnabled", enabled=False)
    assert browser.errors == []


# All that a page has shown.
SHOWN = """
window.shown = [];
new MutationObserver(() => shown.push(document.body?.innerText ?? ""))
  .observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
"""


async def test_page_says_what_it_waits_for_before_its_styles_and_scripts_are_there(
    remote: Remote, browser: Chromium
) -> None:
    opening = "document.getElementById('opening')"
    await browser.call("Network.enable")
    await browser.call("Network.setBlockedURLs", urls=["*/static/*"])
    try:
        await browser.open(remote.url(""))
        assert await browser.evaluate(f"{opening}.innerText") == "Connecting to the remote…"
        # Its own style is allowed.
        assert await browser.evaluate(f"getComputedStyle({opening}).position") == "fixed"
        await browser.call("Network.setBlockedURLs", urls=["*/viewer.js"])
        await browser.open(remote.url(""))
        await browser.wait_until(f"{opening}.innerText.startsWith('The page did not load; reload it.')")
    finally:
        await browser.call("Network.setBlockedURLs", urls=[])
    # It doesn't last: there is nothing to connect to.
    added = await browser.call("Page.addScriptToEvaluateOnNewDocument", source=SHOWN)
    try:
        await browser.open(remote.url("?password=sesame"))
        await browser.wait_until(f"{opening} === null")
        await browser.wait_until(f"shown.some((text) => text.includes('Connecting to 127.0.0.1:{remote.port}'))")
    finally:
        await browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])


async def test_paused_program_is_told_from_one_that_runs(remote: Remote, browser: Chromium) -> None:
    remote.state |= {"clock": "lockstep", "paused": True}
    await browser.open(remote.url("?password=sesame"))
    await browser.wait_until("document.getElementById('state').innerText === 'paused'")
    remote.state["paused"] = False
    await browser.wait_until("document.getElementById('state').innerText === 'running'")


async def test_who_may_only_look_cannot_take_control(remote: Remote, desktop: Desktop, browser: Chromium) -> None:
    await browser.open(remote.url(f"?password={EYE}&control=1"))
    await browser.wait_until(f"{LIVE} && document.getElementById('link').innerText === 'live'")
    assert await browser.evaluate("document.querySelector('#mode input[value=control]').disabled")
    assert await browser.evaluate("location.search") == "?control=1"
    await browser.click("#screen canvas")
    await browser.press("a", "KeyA", 65)
    # The next thing that is seen of it is somebody else's.
    await browser.open(remote.url("?password=sesame&control=1"))
    await browser.wait_until(f"{LIVE} && document.getElementById('link').innerText === 'in control'")
    await browser.press("b", "KeyB", 66)
    await desktop.wait_for_inputs([("key", ord("b"))])


async def test_lost_vnc_server_is_told_and_found_again(
    remote: Remote, bare_desktop: Desktop, browser: Chromium
) -> None:
    await opened(browser, remote)
    await bare_desktop.stop_vnc()
    await browser.wait_until(LOST)
    await browser.wait_until("document.getElementById('notice').innerText.includes('does not answer')")
    await bare_desktop.start_vnc()
    await browser.wait_until(LIVE)
    assert await browser.evaluate("document.getElementById('notice').hidden")
    bare_desktop.fill(100, 80, 60, 60, GREEN)
    await browser.wait_until(pixel(130, 110, GREEN))
    assert browser.errors == []


async def test_whole_page_fits_a_narrow_window(remote: Remote, desktop: Desktop, browser: Chromium) -> None:
    del desktop
    remote.state |= {"clocks": ["realtime", "lockstep"], "picture": [0, 0, 400, 300], "keys": KEYS}
    for width in (390, 700, 1024, 1600):
        await browser.resize(width, 700)
        await opened(browser, remote, "&control=1")
        await browser.evaluate("document.getElementById('clockwork').hidden = false")
        # It may be longer than a narrow window, which takes a scroll bar, but no wider.
        assert (
            await browser.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
        )
        assert await browser.evaluate("document.querySelector('#screen canvas').getBoundingClientRect().width") > 300


async def test_zoom_shows_the_environments_part_and_clicks_still_land_where_they_look(
    remote: Remote, desktop: Desktop, browser: Chromium
) -> None:
    box = "document.querySelector('.surface').getBoundingClientRect()"
    size = f"({box}.width / {box}.height)"
    remote.state["picture"] = [100, 40, 80, 120]
    await opened(browser, remote, "&control=1")
    await browser.wait_until(f"Math.abs({size} - 80 / 120) < 0.01")
    await browser.click(".surface")
    await desktop.wait_for_inputs([("button", 1)])
    x, y = desktop.window.pointer()
    assert abs(x - 140) <= 1
    assert abs(y - 100) <= 1
    await browser.click("#zoom")
    await browser.wait_until(f"Math.abs({size} - 400 / 300) < 0.01")
    assert browser.errors == []


async def test_sound_is_played_when_it_is_asked_for(remote: Remote, desktop: Desktop, browser: Chromium) -> None:
    del desktop
    remote.state["audio"] = True
    await opened(browser, remote)
    await browser.wait_until("!document.getElementById('sound').hidden")
    await browser.evaluate("""(() => {
        const start = AudioBufferSourceNode.prototype.start;
        AudioBufferSourceNode.prototype.start = function (at) {
            window.played = [0, 1].map((channel) => this.buffer.getChannelData(channel)[0]).join();
            start.call(this, at);
        };
    })()""")
    with contextlib.closing(SoundFile.make(remote.vnc_socket.with_name(FILE))) as file:
        await browser.click("#sound")
        while not (played := await browser.evaluate("window.played ?? ''")):
            file.put(np.tile(np.array([2**14, -(2**13)], np.int16), (882, 1)))
    assert played == "0.5,-0.25"
    assert browser.errors == []


@contextlib.contextmanager
def acts(remote: Remote) -> Generator[list[list[Any]]]:
    """The events that are to be done beside VNC."""
    events: list[list[Any]] = []

    async def act(asked: Mapping[str, Any]) -> None:
        events.extend(asked["events"])

    remote.questions["act"] = act
    yield events
    del remote.questions["act"]


async def test_gamepads_of_a_person_are_the_remotes_until_they_only_watch(
    remote: Remote, desktop: Desktop, browser: Chromium
) -> None:
    del desktop
    remote.state["pads"] = 1
    with acts(remote) as events:
        await opened(browser, remote, "&control=1")
        await browser.evaluate("""(() => {
            const buttons = Array.from({ length: 17 }, () => ({ pressed: false, value: 0 }));
            Object.assign(buttons[6], { pressed: true, value: 0.5 });
            buttons[16].pressed = true;
            const pad = { axes: [-0.75, 0.05, 0, 0], buttons };
            navigator.getGamepads = () => [null, pad, { axes: [1, 1, 1, 1], buttons }];
        })()""")
        await eventually(lambda: len(events) == 3)
        held = {"JoystickAxisXEvent": -0.75, "JoystickAxisZEvent": 0.5, "JoystickButton8Event": 1}
        assert dict(events) == held
        await browser.evaluate(VIEW_ONLY)
        await eventually(lambda: len(events) == 6)
        assert dict(events) == dict.fromkeys(held, 0)
    assert browser.errors == []


async def test_a_click_takes_the_pointer_for_a_game_that_grabs_it(
    remote: Remote, desktop: Desktop, browser: Chromium
) -> None:
    remote.state["relative"] = True
    with acts(remote) as events:
        await opened(browser, remote, "&control=1")
        await browser.wait_until(f"{field('reward')} === '3'")
        place = desktop.window.pointer()
        await browser.click("#screen canvas")
        await browser.wait_until("document.pointerLockElement !== null")
        assert events == []
        # Those of DevTools' mouse have no length here.
        moved = "new PointerEvent('pointermove', { bubbles: true, movementX: -10, movementY: 4 })"
        await browser.evaluate(f"document.pointerLockElement.dispatchEvent({moved})")
        mouse = {"type": "mousePressed", "x": 300, "y": 300, "button": "left", "buttons": 1, "clickCount": 1}
        await browser.call("Input.dispatchMouseEvent", **mouse)
        await eventually(lambda: ["RelativePointerEvent", 0, 0, 1] in events)
        assert ["RelativePointerEvent", -10, 4, 0] in events
        await browser.evaluate("document.exitPointerLock()")
        await eventually(lambda: events[-1] == ["RelativePointerEvent", 0, 0, 0])
        assert desktop.window.pointer() == place
    assert browser.errors == []


async def test_plot_grows_with_the_episode(remote: Remote, desktop: Desktop, browser: Chromium) -> None:
    del desktop
    curve = "document.querySelector('#plot .curve').getAttribute('d')"
    await browser.open(remote.url("?password=sesame"))
    await browser.wait_until(f"{field('reward')} === '3'")
    remote.state |= {"episode_reward": 5.0, "episode_seconds": 14.0}
    await browser.wait_until(f"({curve} ?? '').includes('H1.0000')")
    remote.state |= {"episode_id": "8", "episode_reward": 0.0, "episode_seconds": 0.0}
    await browser.wait_until(f"document.querySelector('#plot .before').getAttribute('d') && !{curve}.includes('H')")
