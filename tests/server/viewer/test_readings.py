"""What the sources read, over the picture and beside it, in a real browser before a real screen."""

from typing import Any

import pytest
from support.chromium import Chromium
from support.desktop import Desktop
from support.viewer_remote import Remote, opened

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

SWITCH = "document.getElementById('readings')"
CANVAS = "document.querySelector('canvas.readings')"
ROWS = "[...document.querySelectorAll('#sources tbody tr')].map(row => row.innerText)"
REWARDS = "[...document.querySelectorAll('#rewards tbody tr')].map(row => row.innerText)"


def reading(value: Any, region: list[int] | None = None, **others: Any) -> dict[str, Any]:
    return {"value": value, "raw": value, "confidence": 1.0, "state": "ok", "lag_ms": 0.31, "region": region, **others}


def drawn(x: float, y: float) -> str:
    """The colour drawn just above a place of the remote's screen, as [red, green, blue, alpha]."""
    return (
        f"(() => {{ const canvas = {CANVAS};"
        " const picture = document.querySelector('.surface canvas').getBoundingClientRect();"
        " const mine = canvas.getBoundingClientRect(); const scale = picture.width / 400;"
        f" const x = {x} * scale + picture.x - mine.x, y = {y} * scale + picture.y - mine.y - 1;"
        " const probe = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });"
        " probe.drawImage(canvas, Math.round(x), Math.round(y), 1, 1, 0, 0, 1, 1);"
        " return [...probe.getImageData(0, 0, 1, 1).data] })()"
    )


UNKNOWN = "\u2013"
GREEN = [79, 209, 181, 255]
RED = [255, 138, 128, 255]


async def test_readings_are_drawn_where_they_are_read_and_listed(
    remote: Remote, desktop: Desktop, browser: Chromium
) -> None:
    del desktop
    remote.state["readings"] = {
        "score": reading(120.0, [100, 40, 80, 20]),
        "lives": reading(3.0, [300, 200, 40, 20], raw=8.0, confidence=0.54, state="unsure"),
        "level": reading("The Cave"),
        "bonus": reading(None, state="nothing"),
    }
    await opened(browser, remote, "&readings=1")
    await browser.wait_until(f"String({drawn(140, 40)}) === '{','.join(map(str, GREEN))}'")
    assert await browser.evaluate(drawn(140, 50)) == [0, 0, 0, 0]
    above = [await browser.evaluate(drawn(300 + x, 200)) for x in range(40)]
    # What isn't settled has a broken line.
    assert RED in above
    assert len({str(colour) for colour in above}) > 1
    assert await browser.evaluate(ROWS) == [
        "score\nok\n\t120\t100 %\t0.3 ms",
        "lives\nunsure\n\t3\nread 8\n\t54 %\t0.3 ms",
        "level\nok\n\t“The Cave”\t100 %\t0.3 ms",
        f"bonus\nno reading\n\t{UNKNOWN}\t{UNKNOWN}\t0.3 ms",
    ]
    assert browser.errors == []


async def test_frames_stay_on_their_regions_when_the_picture_is_zoomed_and_the_window_changes(
    remote: Remote, desktop: Desktop, browser: Chromium
) -> None:
    del desktop
    remote.state["readings"] = {"score": reading(1.0, [120, 100, 40, 20])}
    remote.state["picture"] = [100, 40, 80, 120]
    await opened(browser, remote, "&readings=1")
    expected = ",".join(map(str, GREEN))
    await browser.wait_until(f"String({drawn(140, 100)}) === '{expected}'")
    await browser.click("#zoom")
    await browser.wait_until(f"String({drawn(140, 100)}) === '{expected}'")
    await browser.resize(900, 500)
    await browser.wait_until(f"String({drawn(140, 100)}) === '{expected}'")


async def test_switch_is_there_with_readings_alone_and_is_kept_in_the_address(
    remote: Remote, desktop: Desktop, browser: Chromium
) -> None:
    del desktop
    await opened(browser, remote)
    assert await browser.evaluate(f"{SWITCH}.hidden")
    remote.state["readings"] = {"score": reading(1.0, [120, 100, 40, 20])}
    await browser.wait_until(f"!{SWITCH}.hidden")
    assert await browser.evaluate(f"getComputedStyle({CANVAS}).display") == "none"
    await browser.click("#readings")
    await browser.wait_until(f"getComputedStyle({CANVAS}).display !== 'none'")
    assert await browser.evaluate(f"location.search + {SWITCH}.ariaPressed") == "?readings=1true"
    await browser.click("#readings")
    assert await browser.evaluate(f"location.search + {SWITCH}.ariaPressed") == "false"


async def test_rewards_are_listed_newest_first_with_their_totals_and_ends(
    remote: Remote, desktop: Desktop, browser: Chromium
) -> None:
    del desktop
    remote.state["readings"] = {"score": reading(1.0)}
    remote.state["rewards"] = [
        {"at": 10.0, "reward": -20.0, "done": False, "reason": "", "episode": "6"},
        {"at": 11.25, "reward": -1.0, "done": True, "reason": "time limit", "episode": "6"},
        {"at": 12.0, "reward": 2.0, "done": False, "reason": "", "episode": "7"},
        {"at": 13.0, "reward": 1.0, "done": False, "reason": "", "episode": "7"},
    ]
    await browser.open(remote.url("?password=sesame&readings=1"))
    await browser.wait_until(f"{REWARDS}.length === 4")
    shown = [row.split("\t")[1:] for row in await browser.evaluate(REWARDS)]
    assert shown == [
        ["+1", "3", "episode 7"],
        ["+2", "2", "episode 7"],
        ["\u22121", "\u221221", "done: time limit"],
        ["\u221220", "\u221220", "episode 6"],
    ]
    assert (await browser.evaluate(REWARDS))[2].split("\t")[0].endswith(":11.2")
    assert browser.errors == []
