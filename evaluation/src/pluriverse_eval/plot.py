"""Score against lag, as a drawing in SVG."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import matplotlib as mpl
from matplotlib.figure import Figure

from .statistics import Estimate

# Both are read on white and on black.
INK: Final = "#808894"
MARK: Final = "#3f7fe8"


@dataclass(frozen=True, slots=True)
class Point:
    """A mode: its median lag, and its score."""

    name: str
    lag_ms: float
    score: Estimate


def plot(points: Sequence[Point]) -> str:
    """Return the drawing: a point with its interval for each mode, joined in the order of their lags."""
    points = sorted(points, key=lambda point: point.lag_ms)
    scores = [point.score for point in points]
    intervals = [[score.mean - score.low for score in scores], [score.high - score.mean for score in scores]]
    names = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    file = io.StringIO()
    library: Any = mpl
    with library.rc_context({**dict.fromkeys(names, INK), "svg.fonttype": "none"}):
        figure: Any = Figure(figsize=(6.4, 3), layout="constrained")
        axes = figure.subplots()
        lags, means = [point.lag_ms for point in points], [score.mean for score in scores]
        axes.errorbar(lags, means, intervals, color=MARK, marker="o", capsize=3, gid="scores")
        for number, point in enumerate(points):
            # Names of points that are near each other don't cover each other.
            axes.annotate(
                point.name,
                (point.lag_ms, point.score.mean),
                (8, 8 if number % 2 == 0 else -14),
                textcoords="offset points",
            )
        axes.set_xlabel("lag, ms")
        axes.set_ylabel("score")
        axes.grid(alpha=0.3)
        axes.margins(x=0.15)
        figure.savefig(file, format="svg", transparent=True)
    return file.getvalue()[file.getvalue().index("<svg") :]
