from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_server.lockstep import NoClock, colours, take_changes, to_rgb


@pytest.mark.parametrize("shape", [(1, 1), (7, 5), (3, 8), (33, 130)])
def test_colours_change_places_the_same_in_c_and_without(
    shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    height, width = shape
    screen = np.random.default_rng(0).integers(0, 256, (height + 3, width + 9, 4), np.uint8)
    part = screen[1 : 1 + height, 2 : 2 + width]
    expected = part[..., 2::-1]
    made = np.zeros((height, width, 3), np.uint8)
    to_rgb(part, made)
    assert np.array_equal(made, expected)

    monkeypatch.setattr(colours, "library", none)
    made[:] = 0
    to_rgb(part, made)
    assert np.array_equal(made, expected)


def none() -> None:
    raise NoClock("no compiler")


@given(st.sets(st.integers(0, 39)))
def test_rows_that_differ_are_taken_and_those_near_each_other_in_one_run(changed: set[int]) -> None:
    screen = np.random.default_rng(0).integers(0, 256, (42, 20, 4), np.uint8)
    part = screen[1:41, 3:17]
    seen = part.copy()
    for row in changed:
        part[row, row % 14, row % 4] ^= 1
    runs = take_changes(part, seen)
    assert np.array_equal(seen, part)
    among = [row for first, count in runs for row in range(first, first + count)]
    assert changed <= set(among)
    assert {end for first, count in runs for end in (first, first + count - 1)} <= changed
    assert all(first - sum(before) > 8 for before, (first, _) in pairwise(runs))
    assert not take_changes(part, seen)


def test_without_c_all_rows_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(colours, "library", none)
    screen, seen = np.ones((4, 5, 4), np.uint8), np.zeros((4, 5, 4), np.uint8)
    assert take_changes(screen, seen) == [(0, 4)]
    assert np.array_equal(seen, screen)
