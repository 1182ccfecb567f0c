from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse.vnc.shrink import view_of


def noise(height: int, width: int) -> np.ndarray:
    return np.random.default_rng(height * 100 + width).integers(0, 256, (height, width, 3), dtype=np.uint8)


def test_a_frame_is_a_copy_that_can_not_be_written_to() -> None:
    screen = noise(4, 6)
    frame = view_of(screen, scale=1, grey=False)
    assert np.array_equal(frame, screen)
    assert not np.shares_memory(frame, screen)
    with pytest.raises(ValueError, match="read-only"):
        frame[0, 0, 0] = 1


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 12))
def test_each_pixel_is_the_rounded_mean_of_its_square(height: int, width: int, scale: int) -> None:
    screen = noise(height, width)
    frame = view_of(screen, scale=scale, grey=False)
    assert frame.shape == (max(1, height // scale), max(1, width // scale), 3)
    for y, x in np.ndindex(frame.shape[:2]):
        square = screen[y * scale : (y + 1) * scale, x * scale : (x + 1) * scale].reshape(-1, 3).astype(int)
        count = len(square)
        assert frame[y, x].tolist() == ((square.sum(axis=0) + count // 2) // count).tolist()


def test_grey_is_one_channel_of_luma() -> None:
    colours = np.array([[[255, 255, 255], [0, 0, 0], [255, 0, 0], [0, 255, 0], [0, 0, 255]]], np.uint8)
    assert view_of(colours, scale=1, grey=True).tolist() == [[[255], [0], [77], [149], [29]]]
