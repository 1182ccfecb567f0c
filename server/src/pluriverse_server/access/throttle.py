"""Slows down guesses of the password, for each address."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

# The second wrong password of an address costs it so long, each further one twice as long as the one before.
FIRST_DELAY_S: Final = 0.25
MAX_DELAY_S: Final = 2.0

# An address that has guessed wrong is forgotten after so long without a guess.
FORGET_S: Final = 60.0

# Guesses of an address wait for their turn. Those that would wait longer than this are refused unread.
MAX_WAIT_S: Final = 4.0

# What is remembered of the addresses that guessed last.
MAX_ADDRESSES: Final = 4096


@dataclass(slots=True)
class _Guesses:
    wrong: int = 0
    next_at: float = 0.0
    last_at: float = 0.0


class PasswordThrottle:
    """Decides when a password may be compared: at once, except for addresses that have sent wrong ones.

    Right and wrong ones wait alike, so that the time reveals nothing. ``wrong`` counts all wrong ones.
    """

    def __init__(self) -> None:
        self._addresses: OrderedDict[str, _Guesses] = OrderedDict()
        self.wrong: int = 0

    def delay(self, address: str, now: float) -> float | None:
        """Take a guess; return the seconds to wait before ``judged`` is called. None: refuse it unread."""
        guesses = self._addresses.get(address)
        if guesses is None:
            return 0.0
        at = max(now, guesses.next_at)
        if at - now > MAX_WAIT_S:
            return None
        if now - guesses.last_at > FORGET_S:
            del self._addresses[address]
            return 0.0
        guesses.last_at = now
        guesses.next_at = at + self._pause_s(guesses)
        return at - now

    def judged(self, address: str, *, right: bool, now: float) -> bool:
        """Note a guess' result; return whether to log it: each power of two of an address' wrong ones is."""
        if right:
            return False
        self.wrong += 1
        guesses = self._addresses.get(address)
        if guesses is None:
            guesses = self._addresses[address] = _Guesses()
            if len(self._addresses) > MAX_ADDRESSES:
                self._addresses.popitem(last=False)
        self._addresses.move_to_end(address)
        guesses.wrong += 1
        guesses.last_at = now
        guesses.next_at = max(guesses.next_at, now + self._pause_s(guesses))
        return guesses.wrong & (guesses.wrong - 1) == 0

    def _pause_s(self, guesses: _Guesses) -> float:
        return min(MAX_DELAY_S, FIRST_DELAY_S * 2.0 ** (guesses.wrong - 1))
