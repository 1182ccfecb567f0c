"""Cuts ink into glyphs where columns have none, and makes one picture of several pieces that show the same. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pluriverse_server.sources.screen.glyphs import STRONG

# A character drawn at other fractions of a pixel is another picture; beyond so many the nearest takes it in.
MAX_VARIANTS: Final = 8

# Two pieces that differ by more are two pictures; different digits begin at about a fifth.
SAME: Final = 0.06


@dataclass(frozen=True, slots=True)
class Piece:
    """One glyph of a crop, in all its rows: columns ``start`` to ``end``, which is excluded."""

    start: int
    end: int
    ink: NDArray[np.float32]


@dataclass(slots=True)
class _Variant:
    first: NDArray[np.float32]
    total: NDArray[np.float32]
    crops: set[int]
    count: int = 1

    @property
    def mean(self) -> NDArray[np.float32]:
        return self.total / np.float32(self.count)


def cut(ink: NDArray[np.float32], tear: int) -> tuple[Piece, ...]:
    """The pieces of a crop's ink from the left; what has less than ``tear`` columns without ink between it is one."""
    inked = np.flatnonzero((ink >= STRONG).any(axis=0)).tolist()
    if not inked:
        return ()
    breaks = [(left + 1, right) for left, right in pairwise(inked) if right - left > tear]
    starts = [inked[0], *(right for _, right in breaks)]
    ends = [*(left for left, _ in breaks), inked[-1] + 1]
    return tuple(Piece(start, end, ink[:, start:end]) for start, end in zip(starts, ends, strict=True))


def averaged(shown: Sequence[tuple[int, NDArray[np.float32]]], top: int, bottom: int) -> list[NDArray[np.float32]]:
    """One picture of all that look the same, of rows ``top`` to ``bottom``, which is excluded.

    ``shown`` are the inks of a character, each with the number of its crop. What just one crop shows so, while others
    agree on something else, was half drawn or labelled wrongly, and is left out.
    """
    variants: list[_Variant] = []
    for crop, ink in shown:
        rows = ink[top:bottom]
        nearest = min(((*_apart(variant.mean, rows), variant) for variant in variants), default=None, key=_first)
        if nearest is None or (nearest[0] > SAME and len(variants) < MAX_VARIANTS):
            variants.append(_Variant(rows, rows.copy(), {crop}))
        else:
            _, shift, variant = nearest
            variant.total += _placed(rows, variant.total.shape[1], shift)
            variant.count += 1
            variant.crops.add(crop)
    agreed = [variant for variant in variants if len(variant.crops) > 1]
    return [_trimmed(variant) for variant in agreed or variants]


def _first(found: tuple[float, int, _Variant]) -> float:
    return found[0]


def _apart(picture: NDArray[np.float32], ink: NDArray[np.float32]) -> tuple[float, int]:
    """How much two pieces differ, of 0 to 1, and how many columns the second has to move for it."""
    width = max(picture.shape[1], ink.shape[1]) + 1
    still = _placed(picture, width, 0)
    energy = float(np.square(picture).sum() + np.square(ink).sum())
    return min((float(np.square(still - _placed(ink, width, shift)).sum()) / energy, shift) for shift in (0, -1, 1))


def _placed(ink: NDArray[np.float32], width: int, shift: int) -> NDArray[np.float32]:
    placed = np.zeros((ink.shape[0], width), np.float32)
    shown = ink[:, max(0, -shift) :][:, : width - max(0, shift)]
    placed[:, max(0, shift) : max(0, shift) + shown.shape[1]] = shown
    return placed


def _trimmed(variant: _Variant) -> NDArray[np.float32]:
    # Of strokes that are thinner than a pixel the mean may have no strong ink; the first begins and ends with some.
    inked = np.flatnonzero((variant.mean >= STRONG).any(axis=0))
    return variant.mean[:, inked[0] : inked[-1] + 1] if len(inked) else variant.first
