"""The books that the programs of ``earning/`` keep, beside what an agent was given."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

OVER: Final = "over"
LEFT: Final = "left"


@dataclass(frozen=True, slots=True)
class Audit:
    """Points that an agent wasn't given, and those that it was given twice; each episode that is wrong, in words."""

    lost: float
    twice: float
    wrong: list[str]


class Ledger:
    """What an agent was given, by the books' own names of episodes."""

    def __init__(self) -> None:
        self.given: dict[str, float] = defaultdict(float)
        self.doomed: set[int] = set()
        """Process ids of programs whose daemon dies: what they earn from then on reaches nobody."""

    def audit(self, folder: Path) -> Audit:
        """Compare with the books.

        The last episode of each program died with it, or with its daemon: nothing is owed of it. An episode that an
        agent's reset ended before it was given anything was never its own.
        """
        owed: dict[str, float] = {}
        most: dict[str, float] = {}
        for book in folder.iterdir():
            points, ends = _read(book)
            names = {episode: f"{book.name} {episode}" for episode in points}
            is_doomed = int(book.name.partition("-")[0]) in self.doomed
            reached = [episode for episode in points if not is_doomed or self.given.get(names[episode])]
            for episode, earned in points.items():
                name = names[episode]
                most[name] = earned
                is_last = episode >= max(reached, default=0)
                if not is_last and not (ends.get(episode) == LEFT and not self.given.get(name)):
                    owed[name] = earned
        lost = {name: earned - self.given.get(name, 0.0) for name, earned in owed.items()}
        twice = {name: given - most.get(name, 0.0) for name, given in self.given.items()}
        return Audit(
            sum(points for points in lost.values() if points > 0),
            sum(points for points in twice.values() if points > 0),
            [f"{name}: lost {points:g} of {owed[name]:g}" for name, points in lost.items() if points > 0]
            + [f"{name}: given {points:g} too many" for name, points in twice.items() if points > 0],
        )


def _read(book: Path) -> tuple[dict[int, float], dict[int, str]]:
    """Return the points of each episode, and how it ended; a line that its writer's death cut off is left out."""
    points: dict[int, float] = defaultdict(float)
    ends: dict[int, str] = {}
    for line in book.read_text().split("\n")[:-1]:
        episode, _, what = line.partition(" ")
        if what in (OVER, LEFT):
            points[int(episode)] += 0.0
            ends[int(episode)] = what
        else:
            points[int(episode)] += float(what)
    return points, ends
