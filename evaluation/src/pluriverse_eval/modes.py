"""How time passes while an agent plays. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from pluriverse.errors import ConfigurationError

# Longer than any task.
MAX_DELAY_MS: Final = 60_000

_MODE: Final = re.compile(r"(paused|live)(?:\+([0-9]{1,5}))?")


@dataclass(frozen=True, slots=True)
class Mode:
    """``paused``: the environment stands still while the agent thinks; else it goes on.

    Either way ``delay_ms`` milliseconds of game time pass between what the agent decides and its first event.
    """

    name: str
    paused: bool
    delay_ms: int

    @property
    def clock(self) -> Literal["realtime", "lockstep"]:
        return "lockstep" if self.paused else "realtime"


def parse_modes(text: str) -> tuple[Mode, ...]:
    """Return the modes of a list such as ``paused,live,live+200``."""
    modes: dict[str, Mode] = {}
    for name in text.split(","):
        match = _MODE.fullmatch(name)
        if match is None or int(match[2] or 0) > MAX_DELAY_MS:
            raise ConfigurationError(
                f"--modes: expected paused or live, or either with up to {MAX_DELAY_MS} ms, such as live+200; "
                f"got {name!r:.40}"
            )
        if name in modes:
            raise ConfigurationError(f"--modes: {name} is listed twice")
        modes[name] = Mode(name, match[1] == "paused", int(match[2] or 0))
    return tuple(modes.values())
