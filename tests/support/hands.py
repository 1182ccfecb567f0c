"""What presses keys and buttons on a screen, by whichever way, and key combinations by name."""

from __future__ import annotations

from typing import Final, Protocol

from pluriverse_protocol.events import KeyEvent, PointerEvent
from pluriverse_server.display import Injector
from pluriverse_server.manifest.key_combinations import parse_combination

SHIFT, CONTROL, ALT, SUPER = 0xFFE1, 0xFFE3, 0xFFE9, 0xFFEB
MODIFIERS: Final = {1: SHIFT, 4: CONTROL, 8: ALT, 64: SUPER}


class Hands(Protocol):
    """A viewer (``support.rfb.RfbClient``), or an injector's."""

    def key(self, keysym: int, down: bool) -> None:
        """A key goes down or up."""
        ...

    def pointer(self, x: int, y: int, mask: int = 0) -> None:
        """The pointer is at (x, y) with the buttons of ``mask`` held."""
        ...


class InjectorHands:
    """The way of actions over the rewarder protocol."""

    def __init__(self, injector: Injector) -> None:
        self._injector = injector

    def key(self, keysym: int, down: bool) -> None:
        """A key goes down or up."""
        self._injector.apply([KeyEvent(keysym, down)])

    def pointer(self, x: int, y: int, mask: int = 0) -> None:
        """The pointer is at (x, y) with the buttons of ``mask`` held."""
        self._injector.apply([PointerEvent(x, y, mask)])


def tap(hands: Hands, keysym: int) -> None:
    """Press and release a key."""
    hands.key(keysym, True)
    hands.key(keysym, False)


def press(hands: Hands, text: str) -> None:
    """Press a combination such as ``Control+Shift+t`` as a person at a viewer does."""
    keysym, modifiers = parse_combination(text)
    held = [key for bit, key in MODIFIERS.items() if modifiers & bit]
    for key in held:
        hands.key(key, True)
    # With Shift held a viewer says the capital; TigerVNC would turn Caps Lock on to type a small letter then.
    tap(hands, keysym - 0x20 if SHIFT in held and ord("a") <= keysym <= ord("z") else keysym)
    for key in reversed(held):
        hands.key(key, False)
