"""Score against lag, as a drawing in SVG."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import matplotlib as mpl
import numpy as np
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
    # Of what is no number nothing is drawn.
    bounds = [score.interval or (math.nan, math.nan) for score in scores]
    intervals = np.abs(np.transpose(bounds) - [score.mean for score in scores])
    names = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    file = io.StringIO()
    library: Any = mpl
    with library.rc_context({**dict.fromkeys(names, INK), "svg.fonttype": "none"}):
        figure: Any = Figure(figsize=(5, 3), layout="constrained")
        axes = figure.subplots()
        lags, means = [point.lag_ms for point in points], [score.mean for score in scores]
        axes.errorbar(lags, means, intervals, color=MARK, marker="o", capsize=3, gid="scores")
        for number, point in enumerate(points):
            # Names of points that are near each other don't cover each other, and none leaves the drawing. Scores
            # mostly fall with the lag: at the right there is room below the line.
            is_right = point.lag_ms > (lags[0] + lags[-1]) / 2
            axes.annotate(
                point.name,
                (point.lag_ms, point.score.mean),
                (-8 if is_right else 8, 8 if number % 2 == 0 and not is_right else -14),
                textcoords="offset points",
                horizontalalignment="right" if is_right else "left",
            )
        axes.set_xlabel("lag, ms")
        axes.set_ylabel("score")
        axes.grid(alpha=0.3)
        axes.margins(x=0.15, y=0.2)
        figure.savefig(file, format="svg", transparent=True)
    return file.getvalue()[file.getvalue().index("<svg") :]
