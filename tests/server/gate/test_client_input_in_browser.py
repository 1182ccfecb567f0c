"""Text that a VNC client types into a field of a real browser."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pluriverse_server.display import Screen
from support.chromium import Chromium
from support.rfb import RfbClient
from Xlib import XK

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


@pytest.mark.timeout(240)
async def test_whole_of_latin_1_greek_cyrillic_and_emoji_are_typed(screen: Screen, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(PAGE)
    options = screen.options
    browser = await Chromium.start(
        tmp_path / "profile", screen=screen.environment, width=options.width, height=options.height
    )
    try:
        await browser.open(f"file://{tmp_path}/page.html")
        with await asyncio.to_thread(RfbClient, "127.0.0.1", options.vnc_port) as client:
            for mask in (0, 1, 0):
                client.pointer(100, 100, mask)
            await browser.wait_until("document.activeElement.id === 'area' && document.hasFocus()")
            for shift in (False, True):
                for start in range(0, len(TEXT), WORD):
                    text = TEXT[start : start + WORD]
                    type_text(client, text, shift=shift)
                    await browser.wait_until(f"area.value.length >= {len(text.encode('utf-16-le')) // 2}")
                    assert await browser.evaluate("area.value") == text
                    await browser.evaluate("area.value = ''")
    finally:
        await browser.close()
