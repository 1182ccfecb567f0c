from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pluriverse.errors import ConfigurationError
from pluriverse.human.window import PlayWindow
from pluriverse_server.x11.connection import hang_up, open_display
from support.waiting import eventually
from support.xvfb import Xvfb
from Xlib import X

pytestmark = pytest.mark.display

# A part of 160 by 120 pixels of the screen, which is shown six times as large.
BOX = (10, 20, 160, 120)


@pytest.fixture
def window(tk_display: Xvfb, monkeypatch: pytest.MonkeyPatch) -> Iterator[PlayWindow]:
    monkeypatch.setenv("DISPLAY", tk_display.name)
    window = PlayWindow("a test", BOX)
    yield window
    window.close()


def root(window: PlayWindow) -> Any:
    return window._window  # pyright: ignore[reportPrivateUsage]


def size(window: PlayWindow) -> tuple[int, int]:
    window.update()
    return root(window).winfo_width(), root(window).winfo_height()


def test_it_has_its_size_before_the_first_picture_and_whatever_it_says(window: PlayWindow) -> None:
    opened = size(window)
    assert opened[0] == 960
    window.show(np.zeros((200, 200, 3), np.uint8))
    assert size(window) == opened
    for text in ("", "short", 40 * "long text "):
        window.say(text)
        assert size(window) == opened


def test_it_shows_the_part_and_knows_its_places(window: PlayWindow, tk_display: Xvfb) -> None:
    screen = np.zeros((200, 200, 3), np.uint8)
    screen[20 + 7, 10 + 5] = 1, 2, 3
    window.show(screen)
    window.update()
    left, top = root(window).winfo_rootx(), root(window).winfo_rooty()
    lit = np.argwhere((tk_display.pixels() == (1, 2, 3)).all(axis=2))
    assert [*lit.min(axis=0), *lit.max(axis=0)] == [top + 42, left + 30, top + 47, left + 35]
    assert window.place(left + 30, top + 42) == window.place(left + 35, top + 47) == (15, 27)
    assert window.place(left - 1, top) == (9, 20)


async def test_a_focus_that_was_lost_and_is_back_was_not_kept(window: PlayWindow, tk_display: Xvfb) -> None:
    display: Any = open_display(tk_display.name)
    try:
        root(window).focus_force()
        await eventually(lambda: window.update() or window.kept_focus())
        focused = display.get_input_focus().focus
        display.set_input_focus(display.screen().root, X.RevertToNone, X.CurrentTime)
        focused.set_input_focus(X.RevertToNone, X.CurrentTime)
        display.sync()
        window.update()
        assert not window.kept_focus()
        assert window.kept_focus()
        window.close()
        assert not window.kept_focus()
    finally:
        hang_up(display)


def test_without_a_display_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":nowhere")
    with pytest.raises(ConfigurationError, match="no window can be opened"):
        PlayWindow("a test", BOX)
