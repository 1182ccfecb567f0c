"""Score against lag, as a drawing in SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from .statistics import Estimate

WIDTH: Final = 640
HEIGHT: Final = 300
LEFT, RIGHT, TOP, BOTTOM = 52, 24, 24, 44

# About how many lines of a scale.
LINES: Final = 5


@dataclass(frozen=True, slots=True)
class Point:
    """A mode: its median lag, and its score."""

    name: str
    lag_ms: float
    score: Estimate


def plot(points: Sequence[Point]) -> str:
    """Return the drawing: a point with its interval for each mode, joined in the order of their lags."""
    points = sorted(points, key=lambda point: point.lag_ms)
    lags = Scale([0.0, *(point.lag_ms for point in points)], LEFT, WIDTH - RIGHT)
    bounds = [bound for point in points for bound in (point.score.low, point.score.high)]
    scores = Scale([0.0, 100.0, *bounds], HEIGHT - BOTTOM, TOP)
    parts = [f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="score against lag">']
    for value in scores.lines:
        y = scores.at(value)
        parts.append(f'<path class="line" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
    below = HEIGHT - BOTTOM + 18
    parts += (f'<text x="{lags.at(lag):.1f}" y="{below}" text-anchor="middle">{lag:g}</text>' for lag in lags.lines)
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">lag, ms</text>')
    way = " ".join(f"{lags.at(point.lag_ms):.1f},{scores.at(point.score.mean):.1f}" for point in points)
    parts.append(f'<polyline class="way" points="{way}"/>')
    for number, point in enumerate(points):
        x, y = lags.at(point.lag_ms), scores.at(point.score.mean)
        low, high = scores.at(point.score.low), scores.at(point.score.high)
        # Names of points that are near each other don't cover each other.
        name_y = y - 8 if number % 2 == 0 else y + 18
        parts.append(f'<path class="interval" d="M{x:.1f} {low:.1f}V{high:.1f}"/>')
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>')
        parts.append(f'<text class="name" x="{x + 8:.1f}" y="{name_y:.1f}">{escape(point.name)}</text>')
    return "\n".join([*parts, "</svg>"])


class Scale:
    """Maps values to pixels, with lines at round numbers."""

    def __init__(self, values: Sequence[float], begin: float, end: float) -> None:
        self._begin, self._end = begin, end
        low, high = min(values), max(values)
        step = _round_step(max(high - low, 1.0) / LINES)
        first, last = int(low // step), int(-(-high // step))
        self._low, self._high = first * step, max(last, first + 1) * step
        self.lines: list[float] = [number * step for number in range(first, max(last, first + 1) + 1)]

    def at(self, value: float) -> float:
        """Return the pixel of a value."""
        return self._begin + (value - self._low) / (self._high - self._low) * (self._end - self._begin)


def _round_step(step: float) -> float:
    power = 1.0
    while power * 10 <= step:
        power *= 10
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step)
