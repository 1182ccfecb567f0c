"""Which keys count as held in a frame."""

from __future__ import annotations

from collections.abc import Iterable


class KeyLatch:
    """The keys held; one that was pressed and released between two frames counts as held for the second of them."""

    def __init__(self, held: Iterable[int] = ()) -> None:
        self._held = set(held)
        self._pressed: set[int] = set()

    @property
    def held(self) -> frozenset[int]:
        """The keysyms that are down at this moment."""
        return frozenset(self._held)

    def apply(self, keysym: int, *, down: bool) -> None:
        """A key went down or up."""
        if down:
            self._held.add(keysym)
            self._pressed.add(keysym)
        else:
            self._held.discard(keysym)

    def take(self) -> frozenset[int]:
        """The keysyms that count as held in this frame: those down now, and those pressed since the last ``take``."""
        keys = frozenset(self._held | self._pressed)
        self._pressed.clear()
        return keys

    def forget_presses(self) -> None:
        """Presses that were over before now no longer count; a key that is still down does."""
        self._pressed.clear()
