"""Presses keys on a display, as a VNC server does: through XTEST."""

from __future__ import annotations

from typing import Any, Final, cast

from Xlib import X
from Xlib.display import Display
from Xlib.ext import xtest

SPARE_KEYCODE: Final = 248


class Typist:
    """Another client of the X server, with hands on its keyboard. Each call has happened when it returns."""

    def __init__(self, name: str) -> None:
        # python-xlib's types know nothing of most of its methods.
        self.display = cast("Any", Display(name))
        self._mapped: dict[int, int] = {}
        self._held: set[int] = set()

    def __enter__(self) -> Typist:
        return self

    def __exit__(self, *_: object) -> None:
        for keysym in list(self._held):
            self.up(keysym)
        self.display.close()

    def map(self, keysym: int, keycode: int = SPARE_KEYCODE) -> None:
        """Put a keysym that no key has on a keycode."""
        self.display.change_keyboard_mapping(keycode, [(keysym,) * 4])
        self.display.sync()
        self._mapped[keysym] = keycode

    def down(self, keysym: int) -> None:
        """Press a key; it is released with the typist's end at the latest."""
        self._held.add(keysym)
        self._key(X.KeyPress, keysym)

    def up(self, keysym: int) -> None:
        self._held.discard(keysym)
        self._key(X.KeyRelease, keysym)

    def tap(self, *keysyms: int) -> None:
        """Press and release keys, one after the other, as fast as the server takes them."""
        for keysym in keysyms:
            self.down(keysym)
            self.up(keysym)

    def hold(self, wanted: frozenset[int], held: frozenset[int]) -> None:
        """Press and release what makes ``held`` into ``wanted``."""
        for keysym in held - wanted:
            self.up(keysym)
        for keysym in wanted - held:
            self.down(keysym)

    def _key(self, event: int, keysym: int) -> None:
        keycode = self._mapped.get(keysym) or self.display.keysym_to_keycode(keysym)
        assert keycode, f"no key has the keysym {keysym:#x}"
        cast("Any", xtest).fake_input(self.display, event, keycode)
        self.display.sync()
