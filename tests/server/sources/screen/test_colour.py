from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_server.sources.screen.colour import ChangeReader, ColourReader, PixelReader
from support.glyphs import Pixels
from support.judged import CONFIDENCE, judged

LAMPS = {"stop": "#e02020", "wait": "#e0b020", "go": "#20c040", "off": "#303030"}


@given(st.integers(0, 255), st.integers(0, 255))
def test_a_colour_counts_within_its_tolerance(level: int, tolerance: int) -> None:
    pixels = np.zeros((2, 2, 4), np.uint8)
    pixels[0, 0, :3] = (90, level, 200)
    read, confidence = ColourReader(["#c8645a", "#ffffff"], tolerance).read(pixels)
    dark = 0.75 if tolerance >= 200 else 0
    assert read == dark + 0.25 * (abs(level - 100) <= tolerance)
    assert confidence == 1


def point(colour: str, noise: float, random: np.random.Generator) -> Pixels:
    pixel = np.zeros((1, 1, 4), np.uint8)
    rgb = np.array(list(bytes.fromhex(colour[1:])))
    pixel[0, 0, :3] = np.clip(rgb + random.normal(0, noise, 3), 0, 255)[::-1]
    return pixel


@pytest.mark.parametrize("noise", [0, 10])
def test_points_have_the_name_of_their_colour_and_none_is_wrong(noise: float) -> None:
    random = np.random.default_rng(3)
    names = random.choice(list(LAMPS), 160)
    crops: Iterator[tuple[Pixels, str]] = ((point(LAMPS[name], noise, random), str(name)) for name in names)
    right, wrong = judged(PixelReader(LAMPS, 48), crops)
    assert wrong == 0
    assert right >= 0.98


def test_a_colour_between_two_is_unsure_and_one_that_is_near_none_has_no_name() -> None:
    random = np.random.default_rng()
    assert PixelReader(LAMPS, 48).read(point("#2040ff", 0, random))[0] is None
    name, confidence = PixelReader({"dark": "#404040", "light": "#606060"}, 48).read(point("#4f4f4f", 0, random))
    assert name == "dark"
    assert confidence < CONFIDENCE
    assert PixelReader({"dark": "#404040"}, 48).read(point("#4f4f4f", 0, random)) == ("dark", 1.0)


def test_a_change_is_the_share_of_pixels_any_of_whose_colours_differs_by_more_than_the_tolerance() -> None:
    reader = ChangeReader(16)
    pixels = np.full((4, 4, 4), 100, np.uint8)
    # The first frame, and one of another size, have nothing to differ from.
    assert reader.read(np.zeros((4, 5, 4), np.uint8)) == reader.read(pixels) == (None, 1.0)
    pixels[0, 0, 1], pixels[0, 1, 2], pixels[0, 2, 0] = 117, 83, 116
    # The unused byte of a pixel says nothing.
    pixels[..., 3] = 255
    assert reader.read(pixels) == (pytest.approx(2 / 16), 1.0)
    assert reader.read(pixels) == (0.0, 1.0)
