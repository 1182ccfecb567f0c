from __future__ import annotations

import numpy as np
import pytest
from realtime.finding import (
    Motion,
    Patience,
    boxes,
    centre,
    coloured,
    middle,
    reflected,
)
from support.solved import blank, fill

RED = (200, 72, 72)


def test_things_are_found_by_their_colour_up_to_a_tolerance() -> None:
    picture = blank(40, 30)
    fill(picture, (10, 5, 14, 9), RED)
    fill(picture, (30, 20, 32, 22), (204, 70, 72))
    assert middle(coloured(picture, RED)) == (11.5, 6.5)
    assert boxes(coloured(picture, RED, 4)) == [(10, 5, 14, 9), (30, 20, 32, 22)]
    assert middle(coloured(picture, (1, 2, 3))) is None


def test_boxes_are_told_apart_in_both_directions() -> None:
    mask = np.zeros((30, 30), bool)
    wanted = [(2, 2, 6, 6), (2, 10, 12, 14), (8, 20, 10, 22), (20, 2, 22, 4)]
    for left, top, right, bottom in wanted:
        mask[top:bottom, left:right] = True
    assert sorted(boxes(mask)) == wanted
    assert boxes(np.zeros((5, 5), bool)) == []
    assert centre((2, 2, 6, 6)) == (3.5, 3.5)


def test_speed_is_known_of_what_was_seen_twice() -> None:
    motion = Motion()
    motion.note(0, (10, 10))
    assert motion.speed == (0, 0)
    motion.note(20, (14, 8))
    assert motion.speed == (0.2, -0.1)
    motion.note(40, None)
    motion.note(60, (90, 90))
    assert motion.speed == (0.2, -0.1)


@pytest.mark.parametrize(("at", "comes"), [(5, 5), (12, 8), (-3, 3), (23, 3), (10, 10)])
def test_what_bounces_comes_back(at: float, comes: float) -> None:
    assert reflected(at, 0, 10) == comes


def test_patience_ends_when_something_is_seen_or_time_is_up() -> None:
    patience, before, after = Patience(100), np.zeros(2), np.ones(2)
    assert not patience.waits(0, before)
    assert [patience.waits(ms, before) for ms in (500, 550, 600)] == [True, True, False]
    assert patience.waits(900, before)
    assert not patience.waits(910, after)
