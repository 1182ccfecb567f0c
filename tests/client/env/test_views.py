import tkinter as tk
from collections.abc import Iterator

import numpy as np
import pytest
from pluriverse.env.views import Window
from pluriverse.errors import ConfigurationError
from support.xvfb import Xvfb

pytestmark = pytest.mark.display


def picture(height: int, width: int) -> np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]:
    return np.arange(height * width * 3, dtype=np.uint32).astype(np.uint8).reshape(height, width, 3)


def test_without_a_display_there_is_no_window(monkeypatch: pytest.MonkeyPatch) -> None:
    for display in ("", ":nowhere"):
        monkeypatch.setenv("DISPLAY", display)
        with pytest.raises(ConfigurationError, match="no window can be opened"):
            Window("x")


@pytest.fixture
def window(tk_display: Xvfb, monkeypatch: pytest.MonkeyPatch) -> Iterator[Window]:
    monkeypatch.setenv("DISPLAY", tk_display.name)
    view = Window("a test")
    yield view
    view.close()


def test_window_has_the_size_of_the_picture_until_people_close_it(window: Window) -> None:
    window.show(picture(50, 80))
    root = window._window  # pyright: ignore[reportPrivateUsage]
    root.update()
    assert (root.winfo_width(), root.winfo_height()) == (80, 50)
    window.close()
    window.show(picture(50, 80))
    with pytest.raises(tk.TclError):
        root.winfo_width()
