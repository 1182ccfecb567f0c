"""Where plays are put on: the daemon's screen, and what all plays share."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from .cookies import Cookies


class Ends(Protocol):
    """What is on the stage and can be taken off."""

    async def stop(self) -> None:
        """End it; may be called repeatedly."""
        ...


@dataclass(frozen=True)
class Stage:
    """``screen``: the daemon's DISPLAY and XAUTHORITY, of ``size`` pixels. ``folder``: private. ``on``: the plays."""

    screen: Mapping[str, str]
    size: tuple[int, int]
    folder: Path
    cookies: Cookies
    on: set[Ends] = field(default_factory=set[Ends])

    async def clear(self) -> None:
        """End all that is on it."""
        await asyncio.gather(*(play.stop() for play in list(self.on)))
