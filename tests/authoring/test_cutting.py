from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from pluriverse_authoring.cutting import MAX_VARIANTS, averaged, cut

GAPPED = np.array([[0, 1, 1, 0, 1, 0, 0, 1, 0]], np.float32)


@given(arrays(np.float32, (6, 20), elements=st.sampled_from([0.0, 0.3, 0.5, 1.0])), st.integers(1, 5))
def test_pieces_hold_all_strong_ink_in_order(ink: NDArray[np.float32], tear: int) -> None:
    pieces = cut(ink, tear)
    held = np.zeros(20, bool)
    for piece in pieces:
        assert np.array_equal(piece.ink, ink[:, piece.start : piece.end])
        held[piece.start : piece.end] = True
    assert not (ink[:, ~held] >= 0.5).any()
    assert all(after.start - before.end >= tear for before, after in pairwise(pieces))


def ring(column: int) -> NDArray[np.float32]:
    ink = np.zeros((8, 10), np.float32)
    ink[1:7, column : column + 6] = 1
    ink[3:5, column + 2 : column + 4] = 0
    return ink


def test_what_looks_the_same_becomes_one_picture_though_it_begins_a_column_later() -> None:
    (picture,) = averaged([(0, ring(0)), (1, ring(1)), (2, ring(0))], 1, 7)
    assert np.array_equal(picture, ring(0)[1:7, :6])


def test_what_only_one_crop_shows_is_left_out_where_others_agree() -> None:
    half = ring(0)
    half[4:] = 0
    assert len(averaged([(0, ring(0)), (1, ring(0)), (2, half), (2, half)], 1, 7)) == 1
    assert len(averaged([(0, ring(0)), (2, half)], 1, 7)) == 2


def test_there_is_an_end_to_variants() -> None:
    random = np.random.default_rng(1)
    shown = [(crop, (random.random((8, 6)) > 0.5).astype(np.float32)) for crop in range(40)]
    assert len(averaged(shown, 0, 8)) <= MAX_VARIANTS


def test_tears_narrower_than_asked_for_part_nothing() -> None:
    assert [(piece.start, piece.end) for piece in cut(GAPPED, 2)] == [(1, 5), (7, 8)]
    assert [(piece.start, piece.end) for piece in cut(GAPPED, 3)] == [(1, 8)]
