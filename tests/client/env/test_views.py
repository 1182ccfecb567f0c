import io
import tkinter as tk
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse.env.views import TerminalView, WindowView, half_blocks, make_view, shrink
from support.xvfb import Xvfb

pytestmark = pytest.mark.display


def picture(height: int, width: int) -> np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]:
    return np.arange(height * width * 3, dtype=np.uint32).astype(np.uint8).reshape(height, width, 3)


@given(st.integers(2, 300), st.integers(1, 300), st.integers(1, 80), st.integers(2, 50))
def test_picture_fits_in_what_there_is(height: int, width: int, columns: int, rows: int) -> None:
    small = shrink(picture(height, width), columns, rows)
    assert small.shape[1] <= columns
    assert small.shape[0] <= rows
    assert small.shape[0] % 2 == 0


def test_two_rows_are_a_line_in_their_colours() -> None:
    rows = np.array([[[1, 2, 3], [1, 2, 3]], [[4, 5, 6], [4, 5, 6]]], np.uint8)
    assert half_blocks(rows) == ["\x1b[38;2;1;2;3;48;2;4;5;6m▀▀\x1b[0m"]


def test_terminal_shows_each_picture_in_the_place_of_the_one_before() -> None:
    out = io.StringIO()
    view = TerminalView(out, (40, 12))
    view.show(picture(210, 160))
    assert out.getvalue().startswith("\x1b[2J\x1b[H")
    assert out.getvalue().count("\n") <= 11
    view.show(np.zeros((8, 8, 1), np.uint8))
    assert "\x1b[38;2;0;0;0;48;2;0;0;0m" in out.getvalue()
    view.close()
    assert out.getvalue().endswith("\x1b[0m")


def test_without_a_display_people_look_at_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    assert isinstance(make_view("human", title="x"), TerminalView)
    monkeypatch.setenv("DISPLAY", ":nowhere")
    assert isinstance(make_view("human", title="x"), TerminalView)


@pytest.fixture
def window(tk_display: Xvfb, monkeypatch: pytest.MonkeyPatch) -> Iterator[WindowView]:
    monkeypatch.setenv("DISPLAY", tk_display.name)
    view = make_view("human", title="a test")
    assert isinstance(view, WindowView)
    yield view
    view.close()


def test_window_has_the_size_of_the_picture_until_people_close_it(window: WindowView) -> None:
    window.show(picture(50, 80))
    root = window._window  # pyright: ignore[reportPrivateUsage]
    root.update()
    assert (root.winfo_width(), root.winfo_height()) == (80, 50)
    window.close()
    window.show(picture(50, 80))
    with pytest.raises(tk.TclError):
        root.winfo_width()
