"""Keys and buttons pressed by either way in, a viewer or the rewarder protocol, and key combinations by name."""

from typing import Final, Protocol

from pluriverse_protocol.events import KeyEvent, PointerEvent
from pluriverse_server.display import Injector
from pluriverse_server.manifest.key_combinations import parse_combination

SHIFT, CONTROL, ALT, SUPER = 0xFFE1, 0xFFE3, 0xFFE9, 0xFFEB
MODIFIERS: Final = {1: SHIFT, 4: CONTROL, 8: ALT, 64: SUPER}


class InputDevice(Protocol):
    """A viewer (``support.rfb.RfbClient``), or the injector."""

    def key(self, keysym: int, down: bool) -> None:
        """Press or release a key."""
        ...

    def pointer(self, x: int, y: int, mask: int = 0) -> None:
        """Move the pointer to (x, y) with the buttons of ``mask`` held."""
        ...


class InjectorDevice:
    """Actions over the rewarder protocol, as an injector gets them."""

    def __init__(self, injector: Injector) -> None:
        self._injector = injector

    def key(self, keysym: int, down: bool) -> None:
        self._injector.apply([KeyEvent(keysym, down)])

    def pointer(self, x: int, y: int, mask: int = 0) -> None:
        self._injector.apply([PointerEvent(x, y, mask)])


def tap(device: InputDevice, keysym: int) -> None:
    device.key(keysym, True)
    device.key(keysym, False)


def press(device: InputDevice, text: str) -> None:
    """Press a combination such as ``Control+Shift+t`` as a person at a viewer does."""
    keysym, modifiers = parse_combination(text)
    held = [key for bit, key in MODIFIERS.items() if modifiers & bit]
    for key in held:
        device.key(key, True)
    # With Shift held a viewer says the capital; TigerVNC would turn Caps Lock on to type a small letter then.
    tap(device, keysym - 0x20 if SHIFT in held and ord("a") <= keysym <= ord("z") else keysym)
    for key in reversed(held):
        device.key(key, False)
