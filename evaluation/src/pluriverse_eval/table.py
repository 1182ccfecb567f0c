"""Episodes as a table: tasks by modes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .results import Episode
from .statistics import Estimate, estimate


@dataclass(frozen=True, slots=True)
class Cell:
    score: Estimate
    earned: float
    """The mean of what episodes earned, before it is scaled to a score."""
    succeeded: float
    """Which part of them."""
    reaction_ms: float | None
    median: Episode
    """The episode whose score is the middle one."""
    failed: int


@dataclass(frozen=True, slots=True)
class Table:
    """Cells by task and mode, and for each mode all tasks that were played in every mode."""

    tasks: Sequence[str]
    modes: Sequence[str]
    cells: dict[tuple[str, str], Cell]
    all: dict[str, Cell]
    counted: int
    """How many tasks ``all`` is of."""


def tabulate(episodes: Iterable[Episode], tasks: Sequence[str], modes: Sequence[str]) -> Table:
    """Return the table of some episodes; tasks and modes without any are left out."""
    lists: dict[tuple[str, str], list[Episode]] = {}
    for episode in episodes:
        lists.setdefault((episode.task, episode.mode), []).append(episode)
    modes = [mode for mode in modes if any(there == mode for _, there in lists)]
    tasks = [task for task in tasks if any(there == task for there, _ in lists)]
    cells = {key: _cell([found]) for key, found in lists.items()}
    whole = [task for task in tasks if all((task, mode) in lists for mode in modes)]
    together = {mode: _cell([lists[task, mode] for task in whole]) for mode in modes if whole}
    return Table(tasks, modes, cells, together, len(whole))


def _cell(tasks: Sequence[Sequence[Episode]]) -> Cell:
    episodes = [episode for task in tasks for episode in task]
    ranked = sorted(episodes, key=lambda episode: (episode.score, episode.seed))
    reactions = [episode.reaction_ms[0] for episode in episodes if episode.reaction_ms is not None]
    return Cell(
        score=estimate([[episode.score for episode in task] for task in tasks]),
        earned=float(np.mean([episode.earned for episode in episodes])),
        succeeded=float(np.mean([np.mean([episode.success for episode in task]) for task in tasks])),
        reaction_ms=float(np.median(reactions)) if reactions else None,
        median=ranked[len(ranked) // 2],
        failed=sum(episode.error is not None for episode in episodes),
    )
