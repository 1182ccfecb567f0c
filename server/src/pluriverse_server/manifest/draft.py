"""Draft runtimes, whose glyphs and templates are still to be cut from a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from .conditions import names_in
from .game import GameTables
from .sources import NumberSource, TemplateSource, TextSource

# Makes a scraper leave out what can't be read yet; ``--draft`` sets it.
DRAFT_VARIABLE: Final = "PLURIVERSE_DRAFT"


def missing_pictures(game: GameTables, directory: Path) -> dict[str, str]:
    """Return the sources whose picture is missing, each with its file, relative to ``directory``."""
    wanted: dict[str, str] = {}
    for name, table in game.sources.items():
        match table:
            case NumberSource(glyphs=str() as file) | TextSource(glyphs=str() as file):
                wanted[name] = file
            case TemplateSource(image=file):
                wanted[name] = file
            case _:
                pass
    return {name: file for name, file in wanted.items() if not (directory / file).exists()}


def drop_sources(game: GameTables, names: frozenset[str]) -> GameTables:
    """Return the game without these sources, and without the rewards, conditions and steps that need them."""
    episode = game.episode

    def kept(condition: str | None) -> bool:
        return condition is not None and not names_in(condition) & names

    return game.model_copy(
        update={
            "sources": {name: table for name, table in game.sources.items() if name not in names},
            "rewards": [reward for reward in game.rewards if reward.source not in names],
            "episode": episode.model_copy(
                update={
                    "ready": episode.ready if kept(episode.ready) else None,
                    "done": {reason: text for reason, text in episode.done.items() if kept(text)},
                    "truncated": {reason: text for reason, text in episode.truncated.items() if kept(text)},
                    "text": episode.text if episode.text not in names else None,
                    "observation": [name for name in episode.observation if name not in names],
                }
            ),
            "reset": game.reset.model_copy(
                update={
                    "start": [step for step in game.reset.start if step.until is None or kept(step.until)],
                    "steps": [step for step in game.reset.steps if step.until is None or kept(step.until)],
                }
            ),
        }
    )
