"""How the daemon starts a scraper, and how long an episode of it may take to begin."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from pluriverse_server.manifest.draft import DRAFT_VARIABLE
from pluriverse_server.manifest.game import GameTables
from pluriverse_server.manifest.page import PageTable

# For starting, copying the program's HOME and ending the last program, beside the game's own steps.
OWN_TIME_S: Final = 15.0

# Where keys don't lead to an episode, the program is restarted once.
ATTEMPTS: Final = 2

# For starting a page's browser, and for the end of its last step, on a busy machine.
BROWSER_S: Final = 120.0


def scraper_command(directory: Path, folder: Path, zoom: int | None = None) -> list[str]:
    """Return the scraper's command; ``zoom`` is its page's, which may differ from its manifest's."""
    # A name, not an import: the scraper lies on a floor above.
    command = [sys.executable, "-m", "pluriverse_server.scraper", str(directory.absolute()), "--folder", str(folder)]
    command += [] if zoom is None else ["--zoom", str(zoom)]
    return [*command, "--draft"] if os.environ.get(DRAFT_VARIABLE) else command


def patience_s(game: GameTables, page: PageTable | None = None) -> float:
    """Return how long an episode may take to begin, in seconds; the scraper itself gives up before that."""
    if page is not None:
        return BROWSER_S + page.ready_timeout_s
    assert game.program is not None
    steps = (*game.reset.start, *game.reset.steps)
    way = game.program.ready.timeout_s + sum(step.timeout_s for step in steps) + game.episode.ready_timeout_s
    return OWN_TIME_S + ATTEMPTS * way
