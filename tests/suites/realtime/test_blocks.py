from __future__ import annotations

import numpy as np
from realtime.blocks import best_place, dropped, heights, worth
from realtime.finding import Mask


def blocks(*rows: str) -> Mask:
    return np.array([[square == "#" for square in row] for row in rows])


FIELD = blocks("......", "......", "......", "#.....", "#.####", "#.####")
BAR = blocks("####")
TEE = blocks("###", ".#.")


def test_columns_have_heights() -> None:
    assert heights(FIELD).tolist() == [3, 0, 2, 2, 2, 2]


def test_piece_falls_onto_what_is_highest_below_it() -> None:
    after = dropped(FIELD, TEE, 2)
    assert after is not None
    assert after[2].tolist() == blocks("..###.")[0].tolist()
    assert after[3].tolist() == blocks("#..#..")[0].tolist()
    after = dropped(FIELD, blocks("#", "#", "#"), 1)
    assert after is not None
    assert heights(after).tolist() == [3, 3, 2, 2, 2, 2]
    assert dropped(FIELD, blocks("#", "#", "#", "#"), 0) is None


def test_full_lines_are_good_and_holes_are_bad() -> None:
    assert worth(blocks("....", "####")) > worth(blocks("....", "###."))
    assert worth(blocks("....", "##..", "##..")) > worth(blocks("##..", "##..", "...."))


def test_bar_is_turned_to_fill_a_gap_however_it_is_turned() -> None:
    assert best_place(FIELD, BAR) in ((1, 1), (3, 1))
    assert best_place(FIELD, np.rot90(BAR)) == (0, 1)
    assert best_place(np.ones((4, 4), bool), BAR) is None
