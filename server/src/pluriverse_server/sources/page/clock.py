"""The script that gives documents the agent's clock, before their own scripts run. Pure."""

from __future__ import annotations

import json
import secrets
from importlib import resources
from typing import Final

# What screens do in real time; pages count on it.
FPS: Final = 60

# Any day will do, as long as it is always the same: 2025 begins, in UTC.
EPOCH_MS: Final = 1_735_689_600_000


class ClockScript:
    """The clock of pages in lockstep. Its name is random, so that no page can rely on it."""

    def __init__(self) -> None:
        self._engine = f"_{secrets.token_hex(8)}"
        self._code = resources.files("pluriverse_server.sources.page").joinpath("clock.js").read_text(encoding="utf-8")

    def script(self, seed: int) -> str:
        """Return the script for new documents, whose random numbers are of ``seed``."""
        options = {"engine": self._engine, "epoch": EPOCH_MS, "fps": FPS, "seed": _words(seed)}
        return f"({self._code.strip().rstrip(';')})({json.dumps(options)});"

    def begin(self, seed: int) -> str:
        return f"{self._engine}.begin({json.dumps(_words(seed))})"

    def advance(self, frames: int, due: int, check: str) -> str:
        """Return the script that lets up to so many frames pass, until one in which the page did something.

        In the last so many as are ``due`` are painted. Its value is a promise of how many passed, of whether it did
        anything or was painted, and of whether a menu is open. If neither, the script ``check`` is run.
        """
        engine = self._engine
        return (
            f"globalThis.{engine}?.advance({frames}, {due})"
            f".then(([passed, busy]) => {{ if (!busy) {check}; return [passed, busy, {engine}.menu()]; }})"
        )

    @property
    def asked(self) -> str:
        """The script whose value is how often the document has asked for the time and for random numbers, by name."""
        return f"globalThis.{self._engine}?.asked()"

    @property
    def menu(self) -> str:
        """The script whose value is whether a menu is open."""
        return f"globalThis.{self._engine}?.menu()"

    @property
    def reopen(self) -> str:
        """The script that opens the menu that was open last."""
        return f"{self._engine}.reopen()"

    def paint(self, frames: int) -> str:
        """Return the script that paints so many frames. Its value is a promise of whether a menu is open."""
        return f"globalThis.{self._engine}?.paint({frames}).then({self._engine}.menu)"


def _words(seed: int) -> list[int]:
    """Return a seed as JavaScript can have it, 32 bits each."""
    return [seed & 0xFFFFFFFF, seed >> 32]
