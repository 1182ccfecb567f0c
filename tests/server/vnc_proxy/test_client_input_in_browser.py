"""What reaches a real browser of what a VNC client types and clicks, and of what the daemon injects."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from pluriverse_server.display import Screen
from support.chromium import Chromium
from support.rfb import RfbClient
from Xlib import XK

pytestmark = [pytest.mark.slow, pytest.mark.browser]

PAGE = """<!doctype html><title>a page</title><textarea id=area style="width:300px;height:200px"></textarea>"""
TEXT = (
    'aA1!@#$%^&*()_+{}|:"<>?~z'
    + "".join(map(chr, (*range(0x20, 0x7F), *range(0xA0, 0x100))))
    + "Ελληνικά, όπως ΑΒΓ. Русский текст, ЩЪЫ! 😀🚀🎮"
)


def keysym_of(character: str) -> int:
    return ord(character) if ord(character) < 0x100 else 0x01000000 + ord(character)


# No keycode has two meanings in so short a text, however late a busy browser reads its keys.
WORD = 16


def type_text(client: RfbClient, text: str, *, shift: bool) -> None:
    """As a viewer does (``shift``), or as agents do, which press what they want and nothing else."""
    for character in text:
        shifted = shift and (character.isupper() or character in '!@#$%^&*()_+{}|:"<>?~')
        if shifted:
            client.key(XK.XK_Shift_L, True)
        client.press(keysym_of(character))
        if shifted:
            client.key(XK.XK_Shift_L, False)


@contextlib.asynccontextmanager
async def browsing(screen: Screen, folder: Path, page: str) -> AsyncGenerator[tuple[Chromium, RfbClient]]:
    """A browser that shows a page on the whole screen and has the keyboard, and a VNC client."""
    (folder / "page.html").write_text(page)
    options = screen.options
    browser = await Chromium.start(
        folder / "profile", screen=screen.environment, width=options.width, height=options.height
    )
    try:
        await browser.open(f"file://{folder}/page.html")
        with await asyncio.to_thread(RfbClient, "127.0.0.1", options.vnc_port) as client:
            for mask in (0, 1, 0):
                client.pointer(100, 100, mask)
            await browser.wait_until("document.hasFocus()")
            yield browser, client
    finally:
        await browser.close()


@pytest.mark.timeout(240)
@pytest.mark.parametrize("backend", ["xvfb", "xvnc"])
async def test_whole_of_latin_1_greek_cyrillic_and_emoji_are_typed(screen: Screen, tmp_path: Path) -> None:
    async with browsing(screen, tmp_path, PAGE) as (browser, client):
        await browser.wait_until("document.activeElement.id === 'area'")
        for shift in (False, True):
            for start in range(0, len(TEXT), WORD):
                text = TEXT[start : start + WORD]
                type_text(client, text, shift=shift)
                await browser.wait_until(f"area.value.length >= {len(text.encode('utf-16-le')) // 2}")
                assert await browser.evaluate("area.value") == text
                await browser.evaluate("area.value = ''")
