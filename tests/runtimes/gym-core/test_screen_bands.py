import itertools

import numpy as np
from gym_core.screen import LEAST_GAP, WORD, changed_bands
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

HEIGHT, WIDTH = 60, 5

Frame = NDArray[np.uint8]

changed_rows = st.sets(st.integers(0, HEIGHT - 1))
shapes = st.sampled_from([(HEIGHT, WIDTH), (HEIGHT, WIDTH, 3), (HEIGHT, 2 * WORD), (HEIGHT, WORD, 3)])


def frames(rows: set[int], shape: tuple[int, ...], seed: int) -> tuple[Frame, Frame]:
    """Two frames that differ in one byte of each of these rows."""
    chosen = np.random.default_rng(seed)
    previous = chosen.integers(0, 256, shape, np.uint8)
    current = previous.copy()
    for row in rows:
        place = (row, *(int(chosen.integers(length)) for length in shape[1:]))
        current[place] ^= chosen.integers(1, 256, dtype=np.uint8)
    return previous, current


@given(changed_rows, shapes, st.integers(0, 2**32 - 1))
def test_the_last_frame_with_the_bands_drawn_is_the_new_one(rows: set[int], shape: tuple[int, ...], seed: int) -> None:
    previous, current = frames(rows, shape, seed)
    for top, bottom in changed_bands(previous, current):
        previous[top:bottom] = current[top:bottom]
    assert np.array_equal(previous, current)


@given(changed_rows, shapes, st.integers(0, 2**32 - 1))
def test_bands_are_tight_ordered_and_apart(rows: set[int], shape: tuple[int, ...], seed: int) -> None:
    bands = changed_bands(*frames(rows, shape, seed))
    assert all(top in rows and bottom - 1 in rows for top, bottom in bands)
    assert all(top < bottom for top, bottom in bands)
    assert all(below - bottom >= LEAST_GAP for (_, bottom), (below, _) in itertools.pairwise(bands))
