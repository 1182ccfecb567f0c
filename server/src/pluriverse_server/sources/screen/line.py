"""Reads a line of glyphs: finds the sequence of glyphs that explains all ink of a region best. Pure.

Glyphs begin after columns without ink, so neither their widths nor the line's alignment nor blanks matter. What can't
be read with confidence that way may touch or overlap: then all glyphs are compared with all columns, and each glyph of
the line that explains most once more with what its neighbours leave of the picture.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pluriverse_server.sources.reading import MAX_TEXT_CHARS, Pixels

from .glyphs import STRONG, Glyphs
from .upright import straightened

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

# The confidence that sources ask for by default; below it, it is worth the time to look closely.
CLEAR: Final = 0.8

# Characters that differ in less than this share of their ink can't be told apart.
MIN_RIVALRY: Final = 0.02

# The least share of a pixel that a glyph's neighbours leave to it.
MIN_FREE: Final = 0.01

# A region with more beginnings shows a picture or noise, not text.
MAX_STARTS: Final = 96

# The most columns that all glyphs are compared with.
MAX_COLUMNS: Final = 512

# How often glyphs that overlap are read once more, after their neighbours changed.
ROUNDS: Final = 2


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
    """Reads lines in one set of glyphs."""

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
        """Return the line's text."""
        if self.glyphs.tilted:
            guesses = straightened(self.glyphs.ink.strength(pixels), self.glyphs.height)
        else:
            guesses = iter((self._rows(pixels),))
        best, seen = Spelling("", 1.0), None
        for rows in guesses:
            picture = self._picture(rows)
            spelling = self._read(picture)
            if seen is None or spelling.confidence > best.confidence:
                best, seen = spelling, picture
            if best.confidence >= CLEAR:
                return best
        if seen is not None and len(seen.starts) <= MAX_STARTS:
            best = max(best, self._read_closely(seen), key=lambda spelling: spelling.confidence)
        return best

    def _read(self, picture: _Picture) -> Spelling:
        if not picture.starts:
            return Spelling("", 1.0)
        if len(picture.starts) > MAX_STARTS:
            return Spelling("", 0.0)
        tables = self._tables(picture, picture.starts)
        line, stray = _explain(self._fitting(tables), picture.strong, self.glyphs.overlap)
        if not line:
            return Spelling("", 0.0)
        mismatch = max(glyph.mismatch for glyph in line)
        return self._spelling(line, stray, mismatch, self._margin_of(line, tables, picture))

    def _spelling(self, line: list[_Found], stray: float, mismatch: float, margin: float) -> Spelling:
        fit = 1 - max(0.0, mismatch - FREE_MISMATCH) / MISMATCH_RANGE
        lonely = 1 - stray / (STRAY_RANGE * self._typical)
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
        """Compare all glyphs with the ink at these beginnings."""
        at = np.array(starts)[:, None] + OFFSETS
        common = self._windows(picture)[at.reshape(-1)] @ self._templates
        place = at.reshape(-1)[:, None]
        there = picture.energy[place + self._widths] - picture.energy[place]
        both = there + self._energy
        cost = np.maximum(both - 2 * common, 0)
        shape = (*at.shape, len(self._widths))
        return _Tables(at, cost.reshape(shape), (cost / both).reshape(shape))

    def _windows(self, picture: _Picture) -> NDArray[np.float32]:
        """Return what is seen from each column on, as wide as the widest glyph."""
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

    def _read_closely(self, picture: _Picture) -> Spelling:
        """Read glyphs that may begin anywhere, and overlap."""
        inked = np.flatnonzero(picture.inked)
        if inked[-1] - inked[0] >= MAX_COLUMNS:
            return Spelling("", 0.0)
        line, _ = _explain(self._anywhere(picture, inked), picture.strong, self.glyphs.overlap)
        if not line:
            return Spelling("", 0.0)
        line, mismatch, margin, same = self._among_others(line, picture)
        for _ in range(ROUNDS):
            if same:
                break
            line, mismatch, margin, same = self._among_others(line, picture)
        return self._spelling(line, _beside(line, picture.strong), mismatch, margin)

    def _anywhere(self, picture: _Picture, inked: NDArray[np.intp]) -> list[_Found]:
        """Return the glyphs that fit somewhere better than a column further left or right."""
        at = np.arange(int(inked[0] + OFFSETS[0]), int(inked[-1] + OFFSETS[-1]))
        windows = self._windows(picture)[at]
        sides = self._sides
        there = np.square(windows) @ sides
        energy = (self._templates**2 * sides).sum(axis=0)
        cost = np.maximum(there + energy - 2 * (windows @ (self._templates * sides)), 0)
        mismatch = cost / (there + energy)
        fits = mismatch < np.minimum(mismatch.min(axis=1, keepdims=True) + CLEAR_LEAD, MAX_MISMATCH)
        fits[1:] &= mismatch[1:] <= mismatch[:-1]
        fits[:-1] &= mismatch[:-1] <= mismatch[1:]
        return [
            _Found(x, x + self._columns[glyph], glyph, 0, float(cost[place, glyph]), float(mismatch[place, glyph]))
            for place, glyph in np.argwhere(fits).tolist()
            for x in (int(at[place]),)
        ]

    def _among_others(self, line: list[_Found], picture: _Picture) -> tuple[list[_Found], float, float, bool]:
        """Read each glyph of the line where its neighbours leave the picture to it.

        Return the line, its largest mismatch, its smallest margin, and whether it is the same as before.
        """
        height, columns = self.glyphs.height, self.glyphs.widest + 2 * NEAR
        count, worst, margin, same = len(self._widths), 0.0, 1.0, True
        ink = np.pad(picture.flat.reshape(-1, height), ((columns, columns), (0, 0)))
        line = list(line)
        for index, glyph in enumerate(line):
            left = glyph.x - NEAR
            free = np.ones((columns, height), np.float32)
            for other in line:
                if other is not glyph and other.x < left + columns and other.end > left:
                    first, last = max(other.x, left), min(other.end, left + columns)
                    drawn = self.glyphs.pictures[other.glyph].T[first - other.x : last - other.x]
                    free[first - left : last - left] = np.minimum(free[first - left : last - left], 1 - drawn)
            free = free.reshape(-1)
            shown = ink[left + columns : left + 2 * columns].reshape(-1) * free
            there, energy = float(shown @ (shown / np.maximum(free, MIN_FREE))), self._moved_squares @ free
            cost = np.maximum(there + energy - 2 * (self._moved @ shown), 0)
            best = int(cost.argmin())
            rest = free * self._moved[best]
            apart = energy + energy[best] - 2 * (self._moved @ rest)
            rivals = self._others[best % count][np.arange(len(cost)) % count]
            lead = (cost - cost[best]) / np.maximum(apart, MIN_RIVALRY * self._energy[best % count])
            margin = min(margin, float(lead[rivals].min(initial=1.0)))
            mismatch = float(cost[best] / (there + energy[best]))
            worst = max(worst, mismatch)
            x, chosen = left + best // count, best % count
            same &= (x, chosen) == (glyph.x, glyph.glyph)
            line[index] = _Found(x, x + self._columns[chosen], chosen, 0, float(cost[best]), mismatch)
        return line, worst, margin, same

    @cached_property
    def _sides(self) -> NDArray[np.float32]:
        """What counts of a window by itself: in the columns that neighbours may reach into, only a glyph's own ink."""
        counts = np.zeros((len(self._widths), self.glyphs.widest, self.glyphs.height), np.float32)
        for count, picture in zip(counts, self.glyphs.pictures, strict=True):
            width, side = picture.shape[1], min(self.glyphs.overlap, picture.shape[1] // 2)
            count[:width] = picture.T >= STRONG
            count[side : width - side] = 1
        return np.ascontiguousarray(counts.reshape(len(counts), -1).T)

    @cached_property
    def _moved(self) -> NDArray[np.float32]:
        """All glyphs in a window wider by ``NEAR`` on both sides, at each place in it that is near: one a row."""
        width, height = self.glyphs.widest, self.glyphs.height
        moved = np.zeros((2 * NEAR + 1, len(self._widths), width + 2 * NEAR, height), np.float32)
        for shift, rows in enumerate(moved):
            rows[:, shift : shift + width] = self._templates.T.reshape(-1, width, height)
        return moved.reshape((2 * NEAR + 1) * len(self._widths), -1)

    @cached_property
    def _moved_squares(self) -> NDArray[np.float32]:
        return np.square(self._moved)

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


def _explain(found: list[_Found], strong: NDArray[np.float32], overlap: int) -> tuple[list[_Found], float]:
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
            if end <= glyph.x + overlap and other + left[end] - left[glyph.x] < cost:
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
    return line, _beside(line, strong)


def _beside(line: list[_Found], strong: NDArray[np.float32]) -> float:
    """Return how much ink is in no glyph's columns."""
    left = strong.tolist()
    covered, stray = 0, 0.0
    for glyph in line:
        stray += left[max(glyph.x, covered)] - left[covered]
        covered = max(covered, glyph.end)
    return stray + left[-1] - left[covered]
