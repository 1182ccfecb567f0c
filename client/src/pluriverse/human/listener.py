"""The keyboard and the mouse of this desktop, by pynput, which hears them wherever they are used: only while asked."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from pluriverse_protocol.limits import MAX_KEYSYM

from pluriverse.errors import ConfigurationError
from pluriverse.vnc.keys import keysym

from .held import Key, Mouse

# pynput's names of keys that ``keysym`` knows by others.
_NAMES: Final = {
    "cmd_l": "Super_L",
    "cmd_r": "Super_R",
    "ctrl_l": "Control_L",
    "ctrl_r": "Control_R",
    "shift_r": "Shift_R",
}

_BUTTONS: Final = {"left": 1, "middle": 2, "right": 4, "button8": 128, "button9": 256}
_WHEEL_UP: Final = 8
_WHEEL_DOWN: Final = 16


class Listener:
    """Calls ``take`` with what keyboard and mouse do, from threads of its own, between ``start`` and ``stop``.

    Places are pixels of the desktop.
    """

    def __init__(self, take: Callable[[Key | Mouse], None]) -> None:
        try:
            self._modules: tuple[Any, Any] = import_module("pynput.keyboard"), import_module("pynput.mouse")
        except ImportError as error:
            why = str(error).splitlines()[0]
            raise ConfigurationError(
                f"keyboard and mouse can't be captured ({why}); needs a desktop, and: pip install 'pluriverse[play]'"
            ) from error
        self._take = take
        self._running: list[Any] = []

    @property
    def listens(self) -> bool:
        return bool(self._running)

    def start(self) -> None:
        keyboard, mouse = self._modules
        self._running = [
            keyboard.Listener(on_press=self._on_press, on_release=self._on_release),
            mouse.Listener(on_move=self._on_move, on_click=self._on_click, on_scroll=self._on_scroll),
        ]
        for each in self._running:
            each.start()
        for each in self._running:
            each.wait()

    def stop(self) -> None:
        """Listen no more. May be called repeatedly."""
        # Their threads make no more calls. They may end only with the next event, so they aren't joined.
        for each in self._running:
            each.stop()
        self._running = []

    def _on_press(self, key: Any) -> None:
        self._on_key(key, down=True)

    def _on_release(self, key: Any) -> None:
        self._on_key(key, down=False)

    def _on_key(self, key: Any, *, down: bool) -> None:
        number = keysym_of(key)
        if number is not None:
            self._take(Key(time.monotonic(), number, down))

    def _on_move(self, x: float, y: float) -> None:
        self._take(Mouse(int(x), int(y)))

    def _on_click(self, x: float, y: float, button: Any, pressed: bool) -> None:
        bit = _BUTTONS.get(button.name)
        if bit is not None:
            self._take(Mouse(int(x), int(y), bit, pressed))

    def _on_scroll(self, x: float, y: float, dx: float, dy: float) -> None:
        del dx
        if dy:
            for down in (True, False):
                self._take(Mouse(int(x), int(y), _WHEEL_UP if dy > 0 else _WHEEL_DOWN, down))


def keysym_of(key: Any) -> int | None:
    """Return the X keysym of a key of pynput's; None: it has none.

    ``key`` has a ``char``, or as a member of its enumeration a ``name``; on X11 ``vk`` is the keysym.
    """
    char: str | None = getattr(key, "char", None)
    if char and not getattr(key, "is_dead", False):
        # Some systems report Ctrl+A as the control character that it makes in terminals.
        if len(char) == 1 and 1 <= ord(char) <= 26:
            char = chr(ord(char) + 0x60)
        return _known(char)
    name: str | None = getattr(key, "name", None)
    if name is not None:
        return _known(_NAMES.get(name, name))
    number: int | None = getattr(key, "vk", None)
    return number if sys.platform == "linux" and number is not None and 0 < number <= MAX_KEYSYM else None


def _known(name: str) -> int | None:
    try:
        return keysym(name)
    except ValueError:
        return None
