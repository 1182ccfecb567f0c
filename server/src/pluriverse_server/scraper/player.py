"""What a scraper plays episodes with: a session of programs, or of a page."""

from __future__ import annotations

from typing import Protocol

from pluriverse_protocol.reports import Joystick, Reset, Submit

from pluriverse_server.sources.trees import Box, Tree


class Broken(Exception):
    """An episode can't begin, or go on, and none after it can; the message gives the reason, for people and agents."""


class Player(Protocol):
    """Plays the episodes that the daemon requests, and reports them."""

    async def episode(self, reset: Reset) -> None:
        """Begin an episode. May go on to its end, and is then cancelled for the next; may raise ``Broken``."""
        ...

    async def tree(self, picture: Box) -> Tree:
        """Return what is to be seen within ``picture``, or raise ``NoTree``."""
        ...

    def show(self, world: int) -> None:
        """Show the world of that slot on the remote's screen, if there is one."""
        ...

    def watch(self, watched: bool) -> None:
        """Note whether anybody looks at the remote's screen."""
        ...

    def tilt(self, joystick: Joystick) -> None:
        """Have a gamepad of the program's do this, if it has any."""
        ...

    def submit(self, submit: Submit) -> None:
        """End the episode, if it still runs, with what is earned by now."""
        ...

    async def close(self) -> None: ...
