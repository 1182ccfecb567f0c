"""Presses keys and moves the pointer of one page through DevTools, beside others on a screen that has one of each."""

from __future__ import annotations

import string
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from pluriverse_protocol.events import BUTTONS, KeyEvent, PointerEvent, RelativePointerEvent, ScreenEvent

from pluriverse_server.overlay.rules import ALT, COMMANDS, CONTROL, SHIFT, SUPER, Combination, passes

from .page import Page

# Of DevTools, by those of X.
_MODIFIERS: Final = {ALT: 1, CONTROL: 2, SUPER: 4, SHIFT: 8}

# By the button's number of X: its name and its bit.
_NAMES: Final = {1: ("left", 1), 2: ("middle", 4), 3: ("right", 2), 8: ("back", 8), 9: ("forward", 16)}
MIDDLE: Final = 2

# By the same, how far a notch of the wheel goes, right and down.
_NOTCHES: Final = {4: (0, -120), 5: (0, 120), 6: (-120, 0), 7: (120, 0)}

# As far as the second click of a double one may be from the first.
_DOUBLE: Final = 2

# As long as a page may take to hear of an input.
INPUT_S: Final = 10.0

_SHIFT_L: Final = 0xFFE1

# Unicode's keysyms follow it.
_UNICODE: Final = 0x01000000


class Key(NamedTuple):
    """A key of a keyboard: what it is without Shift and with it, its code, its number on Windows, its place."""

    plain: str
    shifted: str
    code: str
    number: int
    location: int = 0
    modifier: int = 0


def _keys() -> Iterator[tuple[int, Key]]:
    """Yield the keys of a US keyboard by their keysyms."""
    of_characters = [
        *(Key(letter.lower(), letter, f"Key{letter}", ord(letter)) for letter in string.ascii_uppercase),
        *(Key(digit, ")!@#$%^&*("[int(digit)], f"Digit{digit}", ord(digit)) for digit in string.digits),
    ]
    others = (
        *(("`~", "Backquote", 192), ("-_", "Minus", 189), ("=+", "Equal", 187), ("[{", "BracketLeft", 219)),
        *(("]}", "BracketRight", 221), ("\\|", "Backslash", 220), (";:", "Semicolon", 186), ("'\"", "Quote", 222)),
        *((",<", "Comma", 188), (".>", "Period", 190), ("/?", "Slash", 191), ("  ", "Space", 32)),
    )
    of_characters += [Key(plain, shifted, code, number) for (plain, shifted), code, number in others]
    for key in of_characters:
        yield ord(key.plain), key
        yield ord(key.shifted), key
    for keysym, name, number in (
        *((0xFF08, "Backspace", 8), (0xFF09, "Tab", 9), (0xFF0D, "Enter", 13), (0xFF13, "Pause", 19)),
        *((0xFF1B, "Escape", 27), (0xFF63, "Insert", 45), (0xFFFF, "Delete", 46), (0xFF50, "Home", 36)),
        *((0xFF51, "ArrowLeft", 37), (0xFF52, "ArrowUp", 38), (0xFF53, "ArrowRight", 39), (0xFF54, "ArrowDown", 40)),
        *((0xFF55, "PageUp", 33), (0xFF56, "PageDown", 34), (0xFF57, "End", 35), (0xFFE5, "CapsLock", 20)),
        *((0xFFBE + index, f"F{index + 1}", 112 + index) for index in range(12)),
    ):
        yield keysym, Key(name, name, name, number)
    for index, number in enumerate((*range(96, 106), *range(106, 112))):
        # KP_0 to KP_9, then KP_Multiply to KP_Divide.
        keysym = 0xFFB0 + index if index < 10 else 0xFFAA + index - 10
        typed = str(index) if index < 10 else "*+,-./"[index - 10]
        name = typed if index < 10 else ("Multiply", "Add", "Comma", "Subtract", "Decimal", "Divide")[index - 10]
        yield keysym, Key(typed, typed, f"Numpad{name}", number, 3)
    yield 0xFF8D, Key("Enter", "Enter", "NumpadEnter", 13, 3)
    for keysym, name, number, modifier in (
        *((0xFFE1, "Shift", 16, SHIFT), (0xFFE3, "Control", 17, CONTROL), (0xFFE7, "Meta", 91, SUPER)),
        *((0xFFE9, "Alt", 18, ALT), (0xFFEB, "Meta", 91, SUPER)),
    ):
        yield keysym, Key(name, name, f"{name}Left", number, 1, modifier)
        yield keysym + 1, Key(name, name, f"{name}Right", number, 2, modifier)


KEYS: Final[Mapping[int, Key]] = dict(_keys())


@dataclass(slots=True)
class Hands:
    """What is held of a page's keys and buttons. What takes inputs yields after each, of which the page has heard then.

    ``allowed``: combinations that reach it beside those that always do; ``middle``: whether the middle button does.
    """

    allowed: Collection[Combination]
    middle: bool
    x: int = 0
    y: int = 0
    buttons: int = 0
    # Where the pointer was put last: a click there doesn't move it.
    at: tuple[int, int] | None = None
    _held: dict[int, Key] = field(default_factory=dict[int, Key])
    # The last click: its button, where it was, and the how manyth of one.
    _click: tuple[int, int, int, int] | None = None

    async def release(self, page: Page) -> AsyncIterator[None]:
        """Release everything."""
        self.at = None
        for keysym in reversed(list(self._held)):
            async for _ in self._release(page, keysym):
                yield
        async for _ in self._point(page, self.x, self.y, 0, moves=False):
            yield

    async def apply(self, page: Page, events: Sequence[ScreenEvent]) -> AsyncIterator[None]:
        for event in events:
            match event:
                case KeyEvent(keysym, down):
                    inputs = self._press(page, keysym) if down else self._release(page, keysym)
                case PointerEvent(x, y, mask):
                    moves = self.at != (x, y)
                    self.at = x, y
                    inputs = self._point(page, x, y, mask, moves=moves)
                case RelativePointerEvent(dx, dy, mask):
                    self.at = None
                    inputs = self._point(page, self.x + dx, self.y + dy, mask, moves=bool(dx or dy))
            async for _ in inputs:
                yield

    def separate_clicks(self) -> None:
        """Let no click that follows be one with a click before."""
        self._click = None

    @property
    def _state(self) -> int:
        """The modifiers that are held, as X has them."""
        state = 0
        for key in self._held.values():
            state |= key.modifier
        return state

    @property
    def _modifiers(self) -> int:
        return sum(bit for modifier, bit in _MODIFIERS.items() if self._state & modifier)

    async def _press(self, page: Page, keysym: int) -> AsyncIterator[None]:
        typed = _character(keysym)
        key = KEYS.get(keysym) or (Key(typed, typed, "", 0) if typed else None)
        if keysym in self._held or key is None:
            return
        shifts = key.plain != key.shifted == typed and not self._state & SHIFT
        if shifts:
            async for _ in self._press(page, _SHIFT_L):
                yield
        is_down = key in self._held.values()
        means = [ord(each) if len(each) == 1 else keysym for each in (key.plain, key.shifted)]
        passing = passes(means, self._state, self.allowed)
        self._held[keysym] = key
        if not is_down and passing:
            await self._send(page, key, down=True)
            yield
        if shifts:
            async for _ in self._release(page, _SHIFT_L):
                yield

    async def _release(self, page: Page, keysym: int) -> AsyncIterator[None]:
        key = self._held.pop(keysym, None)
        # "a" and "A" are one key.
        if key is not None and key not in self._held.values():
            await self._send(page, key, down=False)
            yield

    async def _send(self, page: Page, key: Key, *, down: bool) -> None:
        name = key.shifted if self._state & SHIFT else key.plain
        text = "\r" if name == "Enter" else name if len(name) == 1 else ""
        said: dict[str, Any] = {
            "type": "keyUp",
            "key": name,
            "code": key.code,
            "windowsVirtualKeyCode": key.number,
            "location": key.location,
            "isKeypad": key.location == 3,
            "modifiers": self._modifiers,
        }
        if down:
            types = bool(text) and not self._state & COMMANDS
            said |= {"type": "keyDown", "text": text} if types else {"type": "rawKeyDown"}
        await page.input("Input.dispatchKeyEvent", said, INPUT_S)

    async def _point(self, page: Page, x: int, y: int, mask: int, *, moves: bool) -> AsyncIterator[None]:
        if moves:
            self.x, self.y = x, y
            held = next((name for number, (name, _) in _NAMES.items() if self.buttons >> number - 1 & 1), "none")
            await self._mouse(page, "mouseMoved", button=held)
            yield
        for number in range(1, BUTTONS + 1):
            bit = 1 << number - 1
            if not (mask ^ self.buttons) & bit:
                continue
            self.buttons ^= bit
            if number in _NOTCHES:
                if mask & bit and not self._state & CONTROL:
                    right, down = _NOTCHES[number]
                    await self._mouse(page, "mouseWheel", deltaX=right, deltaY=down)
                    yield
            elif number != MIDDLE or self.middle:
                name, _ = _NAMES[number]
                kind = "mousePressed" if mask & bit else "mouseReleased"
                count = self._count(number) if mask & bit else self._click[3] if self._click else 1
                await self._mouse(page, kind, button=name, clickCount=count)
                yield

    def _count(self, button: int) -> int:
        """Return the how manyth click of one a press is."""
        before = self._click
        count = 1
        if before is not None and before[0] == button:
            _, x, y, clicks = before
            if max(abs(self.x - x), abs(self.y - y)) <= _DOUBLE:
                count = clicks % 3 + 1
        self._click = button, self.x, self.y, count
        return count

    async def _mouse(self, page: Page, kind: str, **more: Any) -> None:
        held = sum(bit for number, (_, bit) in _NAMES.items() if self.buttons >> number - 1 & 1)
        x, y = self.x / page.zoom, self.y / page.zoom
        said = {"type": kind, "x": x, "y": y, "buttons": held, "modifiers": self._modifiers, **more}
        await page.input("Input.dispatchMouseEvent", said, INPUT_S)


def _character(keysym: int) -> str:
    """Return what a keysym of ASCII, Latin-1 or Unicode types, "" for others."""
    if 0x20 <= keysym <= 0x7E or 0xA0 <= keysym <= 0xFF:
        return chr(keysym)
    return chr(keysym - _UNICODE) if _UNICODE < keysym <= _UNICODE + 0x10FFFF else ""
