import numpy as np
import pytest
from pluriverse_authoring import AuthoringError
from pluriverse_authoring.learn import learn, missing
from pluriverse_server.sources.screen.glyphs import MAX_CELL
from pluriverse_server.sources.screen.line import Line
from support.glyphs import Pixels, Style, bgrx, draw

LEARNT = ("0", "12", "345", "6789", "100", "2468", "13579", "90")
STYLE = Style("DejaVuSans")


def crops(style: Style, texts: tuple[str, ...] = LEARNT) -> list[tuple[Pixels, str]]:
    return [(draw(text, style, seed), text) for seed, text in enumerate(texts)]


def seven_segments(text: str) -> Pixels:
    """Digits whose segments don't touch: torn by columns without ink."""
    segments = ("abcdef", "bc", "abdeg", "abcdg", "bcfg", "acdfg", "acdefg", "abc", "abcdefg", "abcdfg")
    boxes = {
        "a": (0, 2, 3, 8),
        "b": (2, 9, 9, 11),
        "c": (11, 18, 9, 11),
        "d": (18, 20, 3, 8),
        "e": (11, 18, 0, 2),
        "f": (2, 9, 0, 2),
        "g": (9, 11, 3, 8),
    }
    rgb = np.zeros((30, 120, 3), np.uint8)
    for place, digit in enumerate(text):
        for segment in segments[int(digit)]:
            top, bottom, left, right = boxes[segment]
            rgb[5 + top : 5 + bottom, 4 + place * 17 + left : 4 + place * 17 + right] = (40, 240, 60)
    return bgrx(rgb)


@pytest.mark.parametrize(
    "style",
    [
        STYLE,
        Style("DejaVuSansMono", 12, colour=(255, 220, 0), align="centre"),
        Style(colour=(230, 40, 40), background="noise", align="right"),
        Style("DejaVuSerif-Bold", colour=(20, 20, 20), behind=(200, 220, 180)),
    ],
)
def test_what_was_learnt_reads_what_was_not_seen(style: Style) -> None:
    line = Line(learn(crops(style)).glyphs)
    for number in range(0, 99_999, 1_337):
        assert line.read(draw(str(number), style, 100 + number)).text == str(number)


def test_digits_torn_into_segments_are_put_together() -> None:
    line = Line(learn([(seven_segments(text), text) for text in ("01", "2345", "6789", "8888", "1010")]).glyphs)
    for text in ("11111", "90210", "48", "777"):
        assert line.read(seven_segments(text)).text == text


def test_digits_that_no_crop_shows_are_named() -> None:
    with pytest.raises(AuthoringError, match="no crop shows 8, 9;"):
        learn(crops(STYLE, ("01234", "567")))
    assert missing(["01234", "567"]) == "89"


def test_crops_without_any_glyphs_say_what_was_looked_for() -> None:
    blank = [(draw("", STYLE), "0123456789")]
    with pytest.raises(AuthoringError, match=r"at best 0 of 1 .* none of them shows 0, 1, .*, 9; check that labels"):
        learn(blank)


def test_a_crop_is_called_what_whoever_took_it_calls_it() -> None:
    names = [f"a.plrec at 0:{number:02}" for number in range(len(LEARNT))]
    with pytest.raises(AuthoringError, match=r"^a\.plrec at 0:01 \('12'\) has 99x28 pixels"):
        learn([(pixels[:, :99] if text == "12" else pixels, text) for pixels, text in crops(STYLE)], names=names)


def test_what_lies_behind_is_no_glyph_however_well_it_is_cut() -> None:
    # Of single digits the background is one piece as well, and wider than any glyph.
    style = Style("DejaVuSans", width=MAX_CELL + 50)
    line = Line(learn(crops(style, tuple("0123456789"))).glyphs)
    assert line.read(draw("7", style)).text == "7"
