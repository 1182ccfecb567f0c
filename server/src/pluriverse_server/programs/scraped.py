"""How the daemon starts the process that plays a scraped program, and how long it lets that take."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from pluriverse_server.manifest.draft import DRAFT_VARIABLE
from pluriverse_server.manifest.game import GameTables

# What a scraper does beside the game's own steps: it starts, copies the program's HOME, ends the last program.
OWN_TIME_S: Final = 15.0

# Where keys don't lead to an episode, the program is started anew, once.
ATTEMPTS: Final = 2


def scraper_command(directory: Path, folder: Path) -> list[str]:
    """The scraper of the runtime in ``directory``; ``folder`` is for what it makes, which it removes at its end."""
    # By its name: the layer that it is in lies above this one.
    command = [sys.executable, "-m", "pluriverse_server.scraper", str(directory.absolute()), "--folder", str(folder)]
    return [*command, "--draft"] if os.environ.get(DRAFT_VARIABLE) else command


def patience_s(game: GameTables) -> float:
    """How long an episode may take to begin. The scraper gives up before that, and says which step has failed."""
    assert game.program is not None
    steps = (*game.reset.start, *game.reset.steps)
    way = game.program.ready.timeout_s + sum(step.timeout_s for step in steps) + game.episode.ready_timeout_s
    return OWN_TIME_S + ATTEMPTS * way
