import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_server.sources.screen.colour import ColourReader


@given(st.integers(0, 255), st.integers(0, 255))
def test_a_colour_counts_within_its_tolerance(level: int, tolerance: int) -> None:
    pixels = np.zeros((2, 2, 4), np.uint8)
    pixels[0, 0, :3] = (90, level, 200)
    read, confidence = ColourReader(["#c8645a", "#ffffff"], tolerance).read(pixels)
    dark = 0.75 if tolerance >= 200 else 0
    assert read == dark + 0.25 * (abs(level - 100) <= tolerance)
    assert confidence == 1
