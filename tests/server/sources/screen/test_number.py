from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pluriverse_authoring.learn import learn
from pluriverse_server.manifest.sources import PLAIN
from pluriverse_server.sources.screen.glyphs import Glyphs
from pluriverse_server.sources.screen.number import NumberReader, TextReader, number_in
from support.glyphs import Pixels, Style, draw

STYLE = Style("DejaVuSans", width=160)
LEARNT = ("-12.5", "1,234", "9,876.0", "1:23", "59", "-7", "0")


@cache
def glyphs() -> Glyphs:
    return learn([(draw(text, STYLE), text) for text in LEARNT]).glyphs


def number(pixels: Pixels) -> tuple[object, float]:
    return NumberReader(TextReader(glyphs()), PLAIN).read(pixels)


@settings(max_examples=40)
@given(st.integers(-99_999, 999_999), st.booleans(), st.integers(0, 3))
def test_signs_points_separators_and_leading_zeros_are_read(value: int, grouped: bool, decimals: int) -> None:
    amount = value / 10**decimals
    text = f"{amount:{',' if grouped else ''}.{decimals}f}"
    read, confidence = number(draw(text, STYLE))
    assert read == pytest.approx(amount)
    assert confidence >= 0.8
    assert number(draw("000120", STYLE))[0] == 120


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", (None, 1.0)),
        *[(text, (None, 0.0)) for text in ("1:23", "1-2", "1.2.3", "-", "12 34")],
    ],
)
def test_what_is_no_number_is_nothing_unsurely_but_without_ink(text: str, expected: tuple[None, float]) -> None:
    assert number(draw(text, STYLE)) == expected


def test_words_have_spaces_where_they_were_learnt() -> None:
    style = Style("DejaVuSansMono", size=16, width=200)
    words = learn([(draw(text, style), text) for text in ("GAME OVER", "READY", "LEVEL")], "").glyphs
    assert TextReader(words).read(draw("READY GAME", style))[0] == "READY GAME"
    assert TextReader(words).read(draw("OVER", style))[0] == "OVER"


def test_a_number_in_a_line_is_read_where_it_is_written() -> None:
    style = Style("DejaVuSans", size=16, width=200)
    texts = ("Level: 12 of 90", "Level: 34 of 56", "Level: 78 of 90")
    reader = NumberReader(TextReader(learn([(draw(text, style), text) for text in texts]).glyphs), "Level: {} of 90")
    assert reader.read(draw("Level: 61 of 90", style))[0] == 61
    assert reader.read(draw("Level: 61 of 50", style)) == (None, 0.0)


@given(st.floats(-1e9, 1e9).map(lambda value: round(value, 3)))
def test_numbers_are_found_however_they_are_grouped(value: float) -> None:
    assert number_in(f"{value:.3f}") == value
    assert number_in(f" {value:,.3f} ") == value
    assert number_in(f"{value:,.3f}".replace(",", "'")) == value


@pytest.mark.parametrize("text", ["", "x", "1e5", "inf", "nan", "1,23", "12,345 678", "9" * 16, "0x10", "1_0"])
def test_what_is_no_number_is_none(text: str) -> None:
    assert number_in(text) is None
