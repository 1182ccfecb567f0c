"""Numbers drawn as games do, read back; and what becomes of them when something covers them."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pluriverse_authoring.learn import learn
from pluriverse_server.sources.screen.line import CLEAR, Line, Spelling
from support.glyphs import Style, draw

LEARNT = ("0", "12", "345", "6789", "100", "2468", "13579", "90")

FIXED = Style("DejaVuSansMono")
STYLES = {
    "fixed pitch": FIXED,
    "small": Style("DejaVuSansMono", 13),
    "proportional": Style(size=22, align="right"),
    "centred on a gradient": Style(background="gradient", align="centre", colour=(255, 220, 0)),
    "on noise": Style("DejaVuSans", background="noise", align="right"),
    "red and bold": Style("DejaVuSerif-Bold", 18, colour=(230, 40, 40), smooth=False),
    "dark on light": Style("DejaVuSans", colour=(20, 20, 60), behind=(230, 230, 210)),
}
# Its glyphs touch, which is never read as another number.
SLANTED = Style("DejaVuSans-Oblique", smooth=False)


@cache
def line_of(style: Style) -> Line:
    return Line(learn([(draw(text, style, seed), text) for seed, text in enumerate(LEARNT)]).glyphs)


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
@settings(max_examples=20)
@given(number=st.integers(0, 999_999), seed=st.integers(0, 1000))
def test_every_number_is_read_with_confidence(style: Style, number: int, seed: int) -> None:
    spelling = line_of(style).read(draw(str(number), style, 5000 + seed))
    assert spelling.text == str(number)
    assert spelling.confidence >= CLEAR


@settings(max_examples=60)
@given(
    style=st.sampled_from([*STYLES.values(), SLANTED]),
    number=st.integers(0, 999_999),
    share=st.floats(0.01, 1),
    seed=st.integers(0, 2**32 - 1),
)
def test_noise_over_digits_never_makes_another_number_with_confidence(
    style: Style, number: int, share: float, seed: int
) -> None:
    random = np.random.default_rng(seed)
    pixels = draw(str(number), style, seed % 1000)
    hit = random.random(pixels.shape[:2]) < share
    pixels[hit] = random.integers(0, 256, (int(hit.sum()), 4))
    spelling = line_of(style).read(pixels)
    assert spelling.text in ("", str(number)) or spelling.confidence < CLEAR


@settings(max_examples=60)
@given(
    one=st.integers(100_000, 999_999),
    other=st.integers(100_000, 999_999),
    row=st.integers(11, 16),
    style=st.sampled_from([FIXED, STYLES["proportional"]]),
)
def test_digits_drawn_half_over_others_are_one_of_both_or_unsure(one: int, other: int, row: int, style: Style) -> None:
    before, after = draw(str(one), style), draw(str(other), style)
    torn = np.concatenate((after[:row], before[row:]))
    spelling = line_of(style).read(torn)
    pairs = list(zip(str(one), str(other), strict=True))
    read = len(spelling.text) == len(pairs) and all(got in pair for got, pair in zip(spelling.text, pairs, strict=True))
    assert read or spelling.confidence < CLEAR


def test_a_speck_of_ink_is_forgiven_and_a_blot_is_not() -> None:
    pixels = draw("42", FIXED)
    pixels[12, 100] = 255
    assert line_of(FIXED).read(pixels).confidence >= CLEAR
    pixels[10:16, 98:102] = 255
    assert line_of(FIXED).read(pixels).confidence < CLEAR


def test_a_lost_digit_leaves_a_space() -> None:
    style = Style("DejaVuSansMono", size=20)
    pixels = draw("123456", style)
    assert line_of(style).read(draw("123 56", style)).text == "123 56"
    assert line_of(style).read(pixels).text == "123456"


def test_a_picture_instead_of_a_line_is_not_read_at_all() -> None:
    stripes = np.zeros((28, 400, 4), np.uint8)
    stripes[:, ::2] = 255
    assert line_of(FIXED).read(stripes) == Spelling("", 0.0)


def test_other_regions_are_read_wherever_the_line_stands_in_them() -> None:
    high, wide = np.zeros((60, 120, 4), np.uint8), np.zeros((28, 300, 4), np.uint8)
    high[25:53], wide[:, 150:270] = draw("8421", FIXED), draw("8421", FIXED)
    assert line_of(FIXED).read(high).text == "8421"
    assert line_of(FIXED).read(wide).text == "8421"
