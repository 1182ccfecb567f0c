"""Numbered boxes over pictures: what they are drawn on, and what they leave as it is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse.adapters.computer.marks import LARGE, draw, draw_pointer
from pluriverse.adapters.pictures import Pixels

reach = st.integers(-50, 1000)
boxes = st.tuples(reach, reach, st.integers(1, 500), st.integers(1, 500))


def digits(drawn: Pixels) -> int:
    return int((drawn == 255).all(2).sum())


@given(st.dictionaries(st.integers(1, 99), boxes, max_size=6), st.integers(1, 80), st.integers(1, 80))
def test_any_box_may_be_drawn_on_any_picture_which_stays_as_it_was(
    marked: dict[int, tuple[int, int, int, int]], height: int, width: int
) -> None:
    picture = np.full((height, width, 3), 7, np.uint8)
    drawn = draw(picture, marked)
    assert drawn.shape == picture.shape
    assert (picture == 7).all()


@pytest.mark.parametrize(("width", "scale"), [(LARGE - 1, 1), (LARGE, 2)])
def test_a_box_has_a_frame_and_its_number_above_it_and_is_seen_through(width: int, scale: int) -> None:
    picture = np.full((200, width, 3), 128, np.uint8)
    drawn = draw(picture, {42: (50, 60, 80, 40)})
    changed = (drawn != picture).any(2)
    assert changed[60 : 60 + scale, 50:130].all()
    assert changed[100 - scale : 100, 50:130].all()
    assert changed[60:100, 50 : 50 + scale].all()
    assert changed[60:100, 130 - scale : 130].all()
    assert not changed[60 + scale : 100 - scale, 50 + scale : 130 - scale].any()
    above = changed[:60].any(1)
    assert above.sum() >= 7 * scale
    assert above[-1]
    assert changed.sum() == changed[:60, 50:130].sum() + changed[60:100, 50:130].sum()


@pytest.mark.parametrize("box", [(0, 0, 20, 20), (90, 0, 20, 20), (90, 90, 20, 20), (0, 90, 5, 5)])
def test_a_number_at_the_edge_is_all_there(box: tuple[int, int, int, int]) -> None:
    black = np.zeros((100, 100, 3), np.uint8)
    assert digits(draw(black, {99: box})) == digits(draw(black, {99: (50, 50, 20, 20)}))


@pytest.mark.parametrize("ground", [0, 128, 255])
def test_the_pointer_is_seen_on_any_ground_with_its_tip_at_its_place(ground: int) -> None:
    picture = np.full((60, 80, 3), ground, np.uint8)
    drawn = draw_pointer(picture, 30, 20)
    assert (picture == ground).all()
    assert (drawn[20, 30] == 0).all()
    rows, columns = np.nonzero((drawn != picture).any(2))
    assert rows.size > 20
    assert rows.min() >= 20
    assert columns.min() >= 30
    assert rows.max() < 20 + 12
    assert columns.max() < 30 + 8
    assert len(np.unique(drawn[20:32, 30:38])) >= 2


def test_numbers_differ() -> None:
    black = np.zeros((100, 100, 3), np.uint8)
    drawn = [draw(black, {number: (50, 50, 20, 20)}) == 255 for number in range(10)]
    assert len({white.all(2).tobytes() for white in drawn}) == 10
