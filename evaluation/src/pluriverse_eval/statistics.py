"""Means and intervals of scores. Pure.

Means are of tasks, each the mean of its episodes. Intervals hold 95 %, by bootstrap: episodes are drawn again within
each task. With few episodes the bootstrap is unreliable, and with one it gives the episode itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

RESAMPLES: Final = 10_000
LEVEL: Final = 0.95

# With fewer episodes of a task there is no interval; with fewer than ENOUGH it is rough.
FEWEST: Final = 5
ENOUGH: Final = 10

# The same results give the same interval.
SEED: Final = 0


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and its 95 % confidence interval; None: too few episodes."""

    mean: float
    interval: tuple[float, float] | None
    count: int
    """Of episodes."""
    fewest: int
    """How many a task has at least."""


@dataclass(frozen=True, slots=True)
class Difference:
    """By how much the second of two scores higher than the first; ``count`` is of pairs of episodes."""

    estimate: Estimate
    p: float
    """How likely such a difference is by chance."""

    @property
    def real(self) -> bool | None:
        """Whether it is more than chance; None: too few pairs."""
        interval = self.estimate.interval
        return None if interval is None else interval[0] > 0 or interval[1] < 0


def estimate(tasks: Sequence[Sequence[float]]) -> Estimate:
    """Return the mean over tasks of the means of their episodes, of which each has one or more."""
    return _estimate(tasks, _resampled(tasks))


def compare(
    first: Mapping[tuple[str, int], float], second: Mapping[tuple[str, int], float]
) -> tuple[Difference, dict[str, Difference]]:
    """Compare scores by task and seed where both have them: over all tasks, and for each."""
    tasks: dict[str, list[float]] = {}
    for key in sorted(first.keys() & second.keys()):
        tasks.setdefault(key[0], []).append(second[key] - first[key])
    if not tasks:
        raise ValueError("no task and seed in common")
    return _difference(list(tasks.values())), {name: _difference([each]) for name, each in tasks.items()}


def _difference(tasks: Sequence[Sequence[float]]) -> Difference:
    drawn = _resampled(tasks)
    # The bootstrap's p: how often the drawn difference has the other sign, on both sides.
    below, above = float(np.mean(drawn <= 0)), float(np.mean(drawn >= 0))
    return Difference(_estimate(tasks, drawn), min(1.0, 2 * min(below, above)))


def _estimate(tasks: Sequence[Sequence[float]], drawn: NDArray[np.float64]) -> Estimate:
    mean, counts = float(np.mean([np.mean(scores) for scores in tasks])), [len(scores) for scores in tasks]
    return Estimate(mean, _interval(drawn) if min(counts) >= FEWEST else None, sum(counts), min(counts))


def _resampled(tasks: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    random = np.random.default_rng(SEED)
    means = np.zeros(RESAMPLES)
    for scores in tasks:
        values = np.asarray(scores, float)
        means += values[random.integers(len(values), size=(RESAMPLES, len(values)))].mean(axis=1)
    return means / len(tasks)


def _interval(drawn: NDArray[np.float64]) -> tuple[float, float]:
    tail = 100 * (1 - LEVEL) / 2
    low, high = np.percentile(drawn, (tail, 100 - tail))
    return float(low), float(high)
