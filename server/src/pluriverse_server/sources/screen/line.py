"""Reads a line of glyphs: finds the sequence of glyphs that explains all ink of a region best. Pure.

Glyphs begin after columns without ink, so neither their widths nor the line's alignment nor blanks matter.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pluriverse_server.sources.reading import MAX_TEXT_CHARS, Pixels

from .glyphs import OVERLAP, STRONG, Glyphs

# Where a glyph may begin, in columns from its first ink: a smoothed edge counts as ink on some backgrounds only.
OFFSETS: Final = np.arange(-2, 2)

# The worst mismatch of a possible glyph. Halves of digits have 0.33.
MAX_MISMATCH: Final = 0.4

# Another glyph is a rival if it begins within so many columns of the one that was read.
NEAR: Final = 1

# A glyph that fits this much worse than another at the same place can't be read with confidence anyway.
CLEAR_LEAD: Final = 0.15

# A confidence of 0.8, which counts by default, is a mismatch of 0.1 (smoothed edges on a changing background, but not a
# fifth of the glyph), stray ink of a twentieth of a glyph, and two thirds of the way from the next likely character.
FREE_MISMATCH: Final = 0.02
MISMATCH_RANGE: Final = 0.4
STRAY_RANGE: Final = 0.25
SURE_MARGIN: Final = 0.85

# The confidence that sources ask for by default.
CLEAR: Final = 0.8

# Characters that differ in less than this share of their ink are indistinguishable.
MIN_RIVALRY: Final = 0.02

# A region with more beginnings shows a picture or noise, not text.
MAX_STARTS: Final = 96


@dataclass(frozen=True, slots=True)
class Spelling:
    """A line's text, with a space where there is room for a glyph, and the confidence in it, 0 to 1.

    ``text`` is empty without ink (with a confidence of 1), or if no glyphs explain the ink.
    """

    text: str
    confidence: float


@dataclass(frozen=True, slots=True)
class _Picture:
    """The ink of a line: ``flat`` by columns, with a blank margin; ``energy`` and ``strong``: sums so far."""

    flat: NDArray[np.float32]
    starts: list[int]
    inked: NDArray[np.bool_]
    energy: NDArray[np.float32]
    strong: NDArray[np.float32]


@dataclass(slots=True)
class _Tables:
    """How well each glyph fits at each beginning: shape (beginnings, offsets, glyphs)."""

    at: NDArray[np.intp]
    cost: NDArray[np.float32]
    mismatch: NDArray[np.float32]


class _Found(NamedTuple):
    """A possible glyph: its columns, its index, its beginning, and the ink that it leaves unexplained."""

    x: int
    end: int
    glyph: int
    start: int
    cost: float
    mismatch: float


class Line:
    def __init__(self, glyphs: Glyphs) -> None:
        self.glyphs = glyphs
        count, height, widest = len(glyphs.pictures), glyphs.height, glyphs.widest
        self._room = height * widest
        self._ones = np.ones(height, np.float32)
        self._margin = widest + len(OFFSETS)
        self._widths = np.array([picture.shape[1] for picture in glyphs.pictures])
        self._columns: list[int] = self._widths.tolist()
        templates = np.zeros((count, widest, height), np.float32)
        for template, picture in zip(templates, glyphs.pictures, strict=True):
            template[: picture.shape[1]] = picture.T
        flat = templates.reshape(count, -1)
        self._templates = np.ascontiguousarray(flat.T)
        self._energy = np.square(flat).sum(axis=1)
        self._typical = float(np.median(self._energy))
        letters = np.array(list(glyphs.characters))
        self._others = letters[:, None] != letters[None, :]
        self._rivalry = np.maximum(self._rivalries(), MIN_RIVALRY * self._energy[:, None])

    def read(self, pixels: Pixels) -> Spelling:
        picture = self._picture(self._rows(pixels))
        if not picture.starts:
            return Spelling("", 1.0)
        if len(picture.starts) > MAX_STARTS:
            return Spelling("", 0.0)
        tables = self._tables(picture, picture.starts)
        line, stray = _explain(self._fitting(tables), picture.strong)
        if not line:
            return Spelling("", 0.0)
        mismatch = max(glyph.mismatch for glyph in line)
        fit = 1 - max(0.0, mismatch - FREE_MISMATCH) / MISMATCH_RANGE
        lonely = 1 - stray / (STRAY_RANGE * self._typical)
        margin = self._margin_of(line, tables, picture)
        return Spelling(self._spell(line), max(0.0, min(1.0, fit, lonely, margin / SURE_MARGIN)))

    def _rows(self, pixels: Pixels) -> NDArray[np.float32]:
        """Return the ink of the line's rows: those learnt, or in a region of another height those with most ink."""
        glyphs = self.glyphs
        as_learnt = pixels.shape[0] == glyphs.region[1]
        learnt = slice(glyphs.top, glyphs.top + glyphs.height)
        if as_learnt and glyphs.ink.by_pixel:
            return glyphs.ink.strength(pixels[learnt])
        ink = glyphs.ink.strength(pixels)
        if as_learnt:
            return ink[learnt]
        below = np.concatenate(([0.0], np.cumsum((ink * (ink >= STRONG)).sum(axis=1))))
        held = below[glyphs.height :] - below[: -glyphs.height]
        top = int(held.argmax())
        return ink[top : top + glyphs.height]

    def _picture(self, rows: NDArray[np.float32]) -> _Picture:
        height, width = rows.shape
        ink = np.zeros((width + 2 * self._margin, height), np.float32)
        ink[self._margin : -self._margin] = rows.T
        squares = ink * ink
        column = np.dot(squares, self._ones)
        squares *= ink >= STRONG
        strong = np.dot(squares, self._ones)
        inked = strong > 0
        starts = np.flatnonzero(inked[1:] & ~inked[:-1]) + 1
        return _Picture(ink.reshape(-1), starts.tolist(), inked, _left_of(column), _left_of(strong))

    def _tables(self, picture: _Picture, starts: list[int]) -> _Tables:
        at = np.array(starts)[:, None] + OFFSETS
        common = self._windows(picture)[at.reshape(-1)] @ self._templates
        place = at.reshape(-1)[:, None]
        there = picture.energy[place + self._widths] - picture.energy[place]
        both = there + self._energy
        cost = np.maximum(both - 2 * common, 0)
        shape = (*at.shape, len(self._widths))
        return _Tables(at, cost.reshape(shape), (cost / both).reshape(shape))

    def _windows(self, picture: _Picture) -> NDArray[np.float32]:
        step, height = picture.flat.itemsize, self.glyphs.height
        places = len(picture.inked) - self.glyphs.widest
        return np.ndarray((places, self._room), np.float32, picture.flat, 0, (height * step, step))

    def _fitting(self, tables: _Tables) -> list[_Found]:
        """Return, for each glyph at each beginning, the place where it fits best, if it fits."""
        best = tables.mismatch.argmin(axis=1)
        least = tables.mismatch.min(axis=1)
        fits = least < np.minimum(least.min(axis=1, keepdims=True) + CLEAR_LEAD, MAX_MISMATCH)
        found: list[_Found] = []
        for start, glyph in np.argwhere(fits).tolist():
            offset = best[start, glyph]
            x = int(tables.at[start, offset])
            cost, mismatch = float(tables.cost[start, offset, glyph]), float(tables.mismatch[start, offset, glyph])
            found.append(_Found(x, x + self._columns[glyph], glyph, start, cost, mismatch))
        return found

    def _margin_of(self, line: list[_Found], tables: _Tables, picture: _Picture) -> float:
        """Return how far the least certain glyph is from being another: 1 as it was learnt, 0 half way to the other."""
        x, end, glyph, start = np.array([found[:4] for found in line]).T
        cost = np.array([found.cost for found in line])
        lead = self._instead(tables, start, x, end, picture.energy) - cost[:, None]
        share = np.where(self._others[glyph], lead / self._rivalry[glyph], 1.0)
        return float(share.min())

    def _instead(
        self,
        tables: _Tables,
        start: NDArray[np.intp],
        x: NDArray[np.intp],
        end: NDArray[np.intp],
        energy: NDArray[np.float32],
    ) -> NDArray[np.float32]:
        """Return what each glyph would leave unexplained between columns ``x`` and ``end``: shape (places, glyphs)."""
        left = tables.at[start][:, :, None]
        right = left + self._widths
        x, end = x[:, None, None], end[:, None, None]
        near = np.abs(left - x) <= NEAR
        inside = energy[np.minimum(end, right)] - energy[np.maximum(x, left)]
        rest = energy[end] - energy[x] - np.maximum(inside, 0)
        return np.where(near, tables.cost[start] + rest, np.inf).min(axis=1)

    def _rivalries(self) -> NDArray[np.float32]:
        """Return what each glyph leaves unexplained of each other one: shape (shown, mistaken for)."""
        rows: list[NDArray[np.float32]] = []
        for picture in self.glyphs.pictures:
            shown = self._picture(picture)
            start = self._margin
            tables = self._tables(shown, [start])
            place = np.array([start])
            rows.append(self._instead(tables, np.array([0]), place, place + picture.shape[1], shown.energy)[0])
        return np.array(rows)

    def _spell(self, line: list[_Found]) -> str:
        text = ""
        end = line[0].x
        for glyph in line:
            text += " " * (glyph.x - end >= self.glyphs.space) + self.glyphs.characters[glyph.glyph]
            end = glyph.end
        return text[:MAX_TEXT_CHARS]


def _left_of(columns: NDArray[np.float32]) -> NDArray[np.float32]:
    sums = np.zeros(len(columns) + 1, np.float32)
    np.cumsum(columns, out=sums[1:])
    return sums


def _explain(found: list[_Found], strong: NDArray[np.float32]) -> tuple[list[_Found], float]:
    """Return the sequence of glyphs that leaves the least unexplained, and how much ink is beside them."""
    left = strong.tolist()
    found.sort(key=lambda glyph: glyph.x)
    before: list[int] = []
    best, last = 0.0, -1
    # Possible ends of a line: the column, the unexplained ink less all ink up to there, and the last glyph.
    ends: list[tuple[int, float, int]] = []
    for index, glyph in enumerate(found):
        while ends and ends[0][0] <= glyph.x:
            _, cost, ended = heapq.heappop(ends)
            best, last = (cost, ended) if cost < best else (best, last)
        cost, ended = best, last
        for end, other, overlapped in ends:
            if end <= glyph.x + OVERLAP and other + left[end] - left[glyph.x] < cost:
                cost, ended = other + left[end] - left[glyph.x], overlapped
        before.append(ended)
        heapq.heappush(ends, (glyph.end, cost + glyph.cost + left[glyph.x] - left[glyph.end], index))
    for _, cost, ended in ends:
        best, last = (cost, ended) if cost < best else (best, last)
    line: list[_Found] = []
    while last >= 0:
        line.append(found[last])
        last = before[last]
    line.reverse()
    covered, stray = 0, 0.0
    for glyph in line:
        stray += left[max(glyph.x, covered)] - left[covered]
        covered = max(covered, glyph.end)
    return line, stray + left[-1] - left[covered]
