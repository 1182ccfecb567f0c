from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_server.sources.screen.colour import BarReader, ColourReader
from support.glyphs import Pixels, bgrx

LENGTH, THICKNESS = 100, 8

Direction = Literal["right", "left", "up", "down"]


def bar(full: int, direction: Direction = "right") -> Pixels:
    """A red bar of 100 pixels on dark blue."""
    rgb = np.full((THICKNESS, LENGTH, 3), (0, 0, 60), np.uint8)
    rgb[:, :full] = (220, 30, 30)
    turns = {"right": 0, "up": 1, "left": 2, "down": 3}
    return bgrx(np.rot90(rgb, turns[direction]))


def reader(direction: Direction = "right") -> BarReader:
    return BarReader("#dc1e1e", 48, direction)


@given(st.integers(0, LENGTH), st.sampled_from(["right", "left", "up", "down"]))
def test_a_bar_is_as_full_as_it_is_long(full: int, direction: Direction) -> None:
    assert reader(direction).read(bar(full, direction)) == (pytest.approx(full / LENGTH), 1.0)


def test_gaps_and_smoothed_ends_do_no_harm() -> None:
    pixels = bar(60)
    pixels[:, 9:60:10] = 0
    pixels[:, 60, :3] = (45, 15, 110)
    value, confidence = reader().read(pixels)
    assert value == pytest.approx(0.6, abs=0.011)
    assert confidence >= 0.8


def test_letters_upon_a_bar_do_no_harm() -> None:
    pixels = bar(80)
    pixels[2:6, 40:60:3] = 255
    assert reader().read(pixels) == (pytest.approx(0.8), 1.0)


def test_something_else_in_its_place_is_unsure() -> None:
    pixels = bar(100)
    pixels[:, ::2] = 0
    assert reader().read(pixels)[1] < 0.2


@given(st.integers(0, 255), st.integers(0, 255))
def test_a_colour_counts_within_its_tolerance(level: int, tolerance: int) -> None:
    pixels = np.zeros((2, 2, 4), np.uint8)
    pixels[0, 0, :3] = (90, level, 200)
    read, confidence = ColourReader("#c8645a", tolerance).read(pixels)
    dark = 0.75 if tolerance >= 200 else 0
    assert read == dark + 0.25 * (abs(level - 100) <= tolerance)
    assert confidence == 1
