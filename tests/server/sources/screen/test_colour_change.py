from __future__ import annotations

import numpy as np
import pytest
from pluriverse_server.sources.screen.colour import ChangeReader


def test_the_first_frame_has_nothing_to_differ_from() -> None:
    assert ChangeReader(16).read(np.zeros((4, 4, 4), np.uint8)) == (None, 1.0)


def test_a_pixel_counts_once_any_of_its_colours_differs_by_more_than_the_tolerance() -> None:
    reader = ChangeReader(16)
    pixels = np.full((4, 4, 4), 100, np.uint8)
    reader.read(pixels)
    pixels[0, 0, 1], pixels[0, 1, 2], pixels[0, 2, 0] = 117, 83, 116
    assert reader.read(pixels) == (pytest.approx(2 / 16), 1.0)
    assert reader.read(pixels) == (0.0, 1.0)


def test_the_unused_byte_of_a_pixel_says_nothing() -> None:
    reader = ChangeReader(0)
    pixels = np.zeros((4, 4, 4), np.uint8)
    reader.read(pixels)
    pixels[..., 3] = 255
    assert reader.read(pixels)[0] == 0


def test_another_size_begins_anew() -> None:
    reader = ChangeReader(0)
    reader.read(np.zeros((4, 4, 4), np.uint8))
    assert reader.read(np.zeros((4, 5, 4), np.uint8))[0] is None
