"""The guard before a real browser that covers the screen."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import pytest
from pluriverse_server.display import Screen
from pluriverse_server.process import ChildProcess
from support.chromium import Chromium
from support.input_devices import press
from support.rfb import RfbClient

pytestmark = pytest.mark.browser

StartOverlay = Callable[..., Awaitable[ChildProcess]]

PAGE: Final = """<!doctype html><title>a page</title><textarea id=area style="width:300px;height:200px"></textarea>
<script>blurs = 0; addEventListener("blur", () => blurs++); addEventListener("beforeunload", () => blurs++)</script>"""
EFFECTLESS: Final = (
    *("Control+t", "Control+n", "Control+Shift+n", "F12", "Control+Shift+i", "Control+u", "Control+w", "Control+s"),
    *("Alt+F4", "Control+p", "Control+o", "Control+f", "Control+h", "Control+j", "Control+l", "Alt+d", "Alt+f"),
    *("F1", "F3", "F5", "F6", "F7", "F10", "F11", "Shift+Escape", "Control++", "Control+-", "Menu"),
    *("Control+Shift+t", "Alt+Left", "Alt+Home", "Control+Tab", "Control+1", "Control+Shift+Delete", "Control+F4"),
)


@pytest.fixture
async def browser(overlay: StartOverlay, screen: Screen, tmp_path: Path) -> AsyncIterator[Chromium]:
    await overlay("--filter-keys")
    (tmp_path / "page.html").write_text(PAGE)
    options = screen.options
    browser = await Chromium.start(
        tmp_path / "profile", screen=screen.environment, width=options.width, height=options.height
    )
    await browser.open(f"file://{tmp_path}/page.html")
    yield browser
    await browser.close()


async def targets(browser: Chromium) -> list[tuple[str, str]]:
    found: list[dict[str, Any]] = (await browser.call("Target.getTargets"))["targetInfos"]
    return sorted((target["type"], target["url"]) for target in found)


async def test_keys_of_the_browser_do_nothing_and_text_can_be_edited(browser: Chromium, viewer: RfbClient) -> None:
    for mask in (0, 1, 0):
        viewer.pointer(100, 100, mask)
    await browser.wait_until("document.activeElement.id === 'area' && document.hasFocus()")
    before = await targets(browser)
    size = await browser.evaluate("[innerWidth, innerHeight, devicePixelRatio]")
    for text in EFFECTLESS:
        press(viewer, text)
    for text in ("a", "b", "Control+a", "Control+c", "Right", "Control+v", "c"):
        press(viewer, text)
    await browser.wait_until("area.value === 'ababc'")
    assert await targets(browser) == before
    assert await browser.evaluate("[innerWidth, innerHeight, devicePixelRatio]") == size
    assert await browser.evaluate("blurs") == 0
