"""Matches scraped rewards and ends with the labelled ones. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from statistics import median
from typing import Any, Final, Generic, TypeVar

from pluriverse_server.manifest.game import MAX_DELAY_S

# How far apart a label and what was scraped may be, in seconds.
WINDOW_S: Final = MAX_DELAY_S

# Amounts are sums of floats, and so are times.
NEGLIGIBLE: Final = 1e-6
_SOON_S: Final = 1e-9

W = TypeVar("W")


@dataclass(frozen=True, slots=True, eq=False)
class Mark(Generic[W]):
    """``what`` happened, when it was first visible, and when it was reported, in seconds."""

    at: float
    what: W
    reported_at: float


@dataclass(frozen=True, slots=True)
class Matched(Generic[W]):
    """Matching pairs (true, scraped), and the rest of both."""

    pairs: list[tuple[Mark[W], Mark[W]]]
    missed: list[Mark[W]]
    false: list[Mark[W]]

    @property
    def precision(self) -> float:
        return _share(len(self.pairs), len(self.false))

    @property
    def recall(self) -> float:
        return _share(len(self.pairs), len(self.missed))

    @property
    def compared(self) -> bool:
        return bool(self.pairs or self.missed or self.false)

    @property
    def all(self) -> list[Mark[W]]:
        return [*(one for pair in self.pairs for one in pair), *self.missed, *self.false]

    @property
    def delays(self) -> list[float]:
        return [scraped.reported_at - true.at for true, scraped in self.pairs]


def median_and_largest(delays: Sequence[float]) -> tuple[float, float]:
    return (median(delays), max(delays)) if delays else (0.0, 0.0)


def match(true: Sequence[Mark[W]], scraped: Sequence[Mark[W]], same: Callable[[W, W], bool]) -> Matched[W]:
    """Match each true mark, in order of time, with the earliest unmatched ``same`` scraped one within WINDOW_S.

    Not with the nearest: of equal marks close together that were all read late, that may be another's.
    """
    true = sorted(true, key=_time)
    scraped = sorted(scraped, key=_time)
    times = [one.at for one in scraped]
    pairs: list[tuple[int, int]] = []
    taken: set[int] = set()
    for index, one in enumerate(true):
        near = range(bisect_left(times, one.at - WINDOW_S), bisect_right(times, one.at + WINDOW_S))
        found = next((other for other in near if other not in taken and same(one.what, scraped[other].what)), None)
        if found is not None:
            pairs.append((index, found))
            taken.add(found)
    matched = {index for index, _ in pairs}
    return Matched(
        [(true[index], scraped[other]) for index, other in pairs],
        [one for index, one in enumerate(true) if index not in matched],
        [one for index, one in enumerate(scraped) if index not in taken],
    )


def match_rewards(true: Sequence[Mark[float]], scraped: Sequence[Mark[float]]) -> Matched[float]:
    """Match each true reward with a scraped one of the same amount.

    Several on one side within the window (a score that rolls up, two hits in one frame) match those on the other if the
    sums are equal and all amounts have the same sign, so that a misreading that is taken back doesn't match.
    """
    matched = match(_merged(true), _merged(scraped), _same_amount)
    pairs, missed, false = list(matched.pairs), list(matched.missed), list(matched.false)
    for group in _groups([*missed, *false]):
        ones = [mark for mark in group if mark in matched.missed]
        others = [mark for mark in group if mark in matched.false]
        amounts = [mark.what for mark in group]
        if not ones or not others or min(amounts) < 0 < max(amounts) or not _same_amount(_sum(ones), _sum(others)):
            continue
        reported_at = max(mark.reported_at for mark in others)
        pairs += [(one, Mark(one.at, one.what, reported_at)) for one in ones]
        missed = [mark for mark in missed if mark not in ones]
        false = [mark for mark in false if mark not in others]
    return Matched(sorted(pairs, key=lambda pair: pair[0].at), missed, false)


def apart(true: Sequence[Mark[float]], scraped: Sequence[Mark[float]]) -> float:
    """Return how far the sum of what was scraped ever was from the true one, whatever single rewards matched.

    Differences that are over within the window don't count: at each time any sum of the window around it is true.
    """
    true, scraped = sorted(true, key=_time), sorted(scraped, key=_time)
    times, given_at = [mark.at for mark in true], [mark.at for mark in scraped]
    sums = [0.0, *accumulate(mark.what for mark in true)]
    given = [0.0, *accumulate(mark.what for mark in scraped)]
    # A difference begins with what is scraped, or where what is true should have been by now.
    window = WINDOW_S + _SOON_S
    checks = [(bisect_left(times, at - window), at, bisect_right(given_at, at)) for at in given_at]
    checks += [(bisect_right(times, at), at + WINDOW_S, bisect_right(given_at, at + window)) for at in times]
    found = 0.0
    for first, at, count in checks:
        near = sums[first : bisect_right(times, at + window) + 1]
        found = max(found, min(near) - given[count], given[count] - max(near))
    return found if found > NEGLIGIBLE else 0.0


def _merged(marks: Sequence[Mark[float]]) -> list[Mark[float]]:
    merged: list[Mark[float]] = []
    for at, group in groupby(sorted(marks, key=_time), key=_time):
        parts = list(group)
        merged.append(Mark(at, _sum(parts), max(part.reported_at for part in parts)))
    return [mark for mark in merged if mark.what]


def _groups(marks: Sequence[Mark[float]]) -> list[list[Mark[float]]]:
    groups: list[list[Mark[float]]] = []
    for mark in sorted(marks, key=_time):
        if groups and mark.at - groups[-1][0].at <= WINDOW_S:
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return groups


def _time(mark: Mark[Any]) -> float:
    return mark.at


def _sum(marks: Sequence[Mark[float]]) -> float:
    return sum(mark.what for mark in marks)


def _same_amount(one: float, other: float) -> bool:
    return abs(one - other) < NEGLIGIBLE


def _share(good: int, bad: int) -> float:
    return good / (good + bad) if good + bad else 1.0
