"""What is told of a program that is no more."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

log = logging.getLogger(__name__)

# How many of a dead program's last lines go to the log.
LOGGED_LAST_WORDS: Final = 8


@dataclass(frozen=True, slots=True)
class Lost:
    """The program is gone. ``reason`` is for people and agents, ``last_words`` the end of its output.

    ``died`` says that a process did; a page alone may be lost as often as it likes without the remote giving up.
    """

    reason: str
    last_words: str = ""
    died: bool = True

    def log(self) -> None:
        """Tell the people who run the remote."""
        lines = self.last_words.splitlines()[-LOGGED_LAST_WORDS:]
        log.warning("%s%s", self.reason, "".join(f"\n    {line}" for line in lines))
