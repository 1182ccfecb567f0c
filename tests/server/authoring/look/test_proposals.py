from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont
from pluriverse_server.authoring.look.proposals import TOLERANCE, Proposal, Proposer, colours_of
from pluriverse_server.authoring.look.shapes import dials_of, icons_of
from pluriverse_server.manifest.sources import AnySource, DialSource
from pluriverse_server.sources.reading import Pixels
from pluriverse_server.sources.screen import make_reader
from pydantic import TypeAdapter


def drawn(width: int, height: int, ground: str = "#182030") -> tuple[Image.Image, ImageDraw.ImageDraw]:
    image = Image.new("RGB", (width, height), ground)
    return image, ImageDraw.Draw(image)


def pixels_of(image: Image.Image) -> Pixels:
    return np.dstack([np.asarray(image)[..., ::-1], np.zeros((image.height, image.width), np.uint8)])


def proposed(image: Image.Image, folder: Path) -> dict[str, Proposal]:
    """What is proposed for all of a picture, by how it is read; each is a valid source."""
    found, _ = Proposer(folder).propose(pixels_of(image), (10, 20, image.width, image.height))
    for proposal in found:
        table = dict(proposal.table)
        if "point" not in table:
            assert table["region"] == [10, 20, image.width, image.height]
        if proposal.cut is not None:
            table["image"] = "cut.png"
        if table["from"] == "python":
            table["file"] = "reader.py"
        TypeAdapter(AnySource).validate_python(table)
    return {proposal.how: proposal for proposal in found}


def test_a_line_with_two_numbers_is_read_as_either_and_as_a_text(tmp_path: Path) -> None:
    pytest.importorskip("tesserocr")
    image, draw = drawn(260, 32, "white")
    draw.text((6, 4), "Score: 120  Lives: 3", "black", ImageFont.load_default(20))
    found = proposed(image, tmp_path)
    lines = [proposal for how, proposal in found.items() if how.startswith("number in")]
    tables = {
        proposal.table["written"]: proposal.value
        for proposal in Proposer(tmp_path).propose(pixels_of(image), (0, 0, 260, 32))[0]
        if "written" in proposal.table
    }
    assert lines
    assert tables == {"Score: {} Lives: *": 120, "Score: * Lives: {}": 3}
    assert found["text by Tesseract"].value == "Score: 120 Lives: 3"


def test_the_runtimes_own_glyphs_read_a_number_first(tmp_path: Path) -> None:
    import runpy

    from pluriverse_server.authoring import init

    game = runpy.run_path(str(init.TEMPLATES / "game.py"))
    (tmp_path / "glyphs").mkdir()
    (tmp_path / "glyphs" / "digits.png").write_bytes((init.TEMPLATES / "glyphs" / "digits.png").read_bytes())
    picture = np.zeros((20, 72, 4), np.uint8)
    picture[..., :3] = game["SKY"]
    game["number"](picture, "407", 0, 0)
    found, _ = Proposer(tmp_path).propose(picture, (8, 8, 72, 20))
    assert (found[0].how, found[0].value, found[0].table["glyphs"]) == (
        "number by digits.png",
        407,
        "glyphs/digits.png",
    )
    assert found[0].sure > 0.9


def test_a_bar_has_its_colour_and_direction(tmp_path: Path) -> None:
    image, draw = drawn(100, 12)
    draw.rectangle((70, 0, 99, 11), "#d02010")
    found = proposed(image, tmp_path)
    bar = found["bar of #d02010, to the left"]
    assert (bar.value, bar.sure) == (pytest.approx(0.3), 1)
    assert not [how for how in found if how.startswith("count")]
    assert (bar.table["colour"], bar.table["direction"]) == ("#d02010", "left")


def test_a_flat_region_is_a_colour_and_neither_picture_nor_bar(tmp_path: Path) -> None:
    image, _ = drawn(40, 40, "#2e8b57")
    assert {how: proposal.value for how, proposal in proposed(image, tmp_path).items()} == {
        "colour at 30, 40: #2e8b57": "green",
        "share of #2e8b57": 1,
        "by Python, a function of your own": None,
    }


def test_a_picture_with_a_shape_can_be_found_again(tmp_path: Path) -> None:
    image, draw = drawn(40, 40)
    draw.ellipse((5, 5, 35, 35), "#ffe000")
    assert proposed(image, tmp_path)["picture as it is now"].sure == 1


def test_colours_are_those_that_are_seen_and_shades_of_one_are_one() -> None:
    image, draw = drawn(100, 10, "#204060")
    draw.rectangle((0, 0, 29, 9), "#f0f0f0")
    draw.rectangle((30, 0, 39, 9), "#2a4a6a")
    assert colours_of(pixels_of(image)) == [("#204060", pytest.approx(0.7)), ("#f0f0f0", pytest.approx(0.3))]


def test_a_flat_colour_is_one_at_a_point_by_its_name(tmp_path: Path) -> None:
    image, _ = drawn(7, 5, "#d02818")
    pixel = proposed(image, tmp_path)["colour at 13, 22: #d02818"]
    assert (pixel.value, pixel.sure) == ("red", 1)
    assert (pixel.table["point"], pixel.table["colours"]) == ([13, 22], {"red": "#d02818"})


def test_a_single_pixel_can_be_chosen(tmp_path: Path) -> None:
    image, _ = drawn(1, 1, "#20a030")
    assert proposed(image, tmp_path)["colour at 10, 20: #20a030"].value == "green"


@pytest.mark.parametrize("icons", [1, 2, 5])
def test_icons_in_a_row_are_counted_by_the_picture_of_one(tmp_path: Path, icons: int) -> None:
    image, draw = drawn(130, 24)
    for index in range(icons):
        draw.polygon([(25 * index + 4, 4), (25 * index + 20, 4), (25 * index + 12, 20)], "#e03050", "white")
    (count,) = (proposal for how, proposal in proposed(image, tmp_path).items() if how.startswith("count"))
    assert (count.value, count.sure, count.cut) == (icons, 1, (14, 24, 17, 17))


def test_icons_are_counted_in_a_region_that_ends_with_them(tmp_path: Path) -> None:
    image, draw = drawn(67, 17)
    for x in (0, 25, 50):
        draw.polygon([(x, 0), (x + 16, 0), (x + 8, 16)], "#e03050", "white")
    (count,) = (proposal for how, proposal in proposed(image, tmp_path).items() if how.startswith("count"))
    assert (count.value, count.cut) == (3, (10, 20, 17, 17))


def test_of_a_column_with_lost_lives_either_picture_can_be_counted(tmp_path: Path) -> None:
    image, draw = drawn(24, 130)
    for index in range(5):
        box = (4, 25 * index + 4, 19, 25 * index + 19)
        draw.ellipse(box, "#e03050" if index < 3 else None, "#f0f0f0")
    found = [proposal for how, proposal in proposed(image, tmp_path).items() if how.startswith("count")]
    assert [(count.value, count.cut) for count in found] == [(3, (14, 24, 16, 16)), (2, (14, 124, 16, 16))]


def test_a_line_of_letters_is_no_row_of_icons(tmp_path: Path) -> None:
    image, draw = drawn(120, 24)
    draw.text((6, 2), "Level 12", "white", ImageFont.load_default(18))
    assert not [how for how in proposed(image, tmp_path) if how.startswith("count")]


@pytest.mark.parametrize("size", [40, 90])
@pytest.mark.parametrize(
    ("begin", "way", "share"), [(0, 360, 0.3), (0, -360, 0.3), (90, 360, 0.6), (225, 270, 0.4), (135, -270, 0.7)]
)
@pytest.mark.parametrize("hole", [False, True])
def test_a_dial_has_its_colour_and_its_way(
    tmp_path: Path, size: int, begin: int, way: int, share: float, *, hole: bool
) -> None:
    # Of a way that is no circle the end is known by the colour of its empty part.
    image, draw = drawn(8 * size, 8 * size)
    if abs(way) < 360:
        pie(draw, size, begin, way, "#606468")
    pie(draw, size, begin, share * way, "#e0a020")
    if hole:
        draw.ellipse((2 * size, 2 * size, 6 * size, 6 * size), "#182030")
    found = proposed(image.resize((size, size), Image.Resampling.BOX), tmp_path)
    dials = [proposal for how, proposal in found.items() if how.startswith("dial of #e0a020")]
    assert [dial.value for dial in dials] == [pytest.approx(share, abs=0.02)]
    assert dials[0].sure >= 0.8
    assert dials[0].table["angles"] == [begin, begin + way]


def pie(draw: ImageDraw.ImageDraw, size: int, begin: float, way: float, colour: str) -> None:
    """Draw a sector of a circle, eight times as large, whose angles are from the top."""
    first, last = sorted((begin - 90, begin - 90 + way))
    draw.pieslice((8, 8, 8 * size - 9, 8 * size - 9), first, last, colour)


def test_half_a_region_is_no_dial(tmp_path: Path) -> None:
    image, draw = drawn(60, 60)
    draw.rectangle((0, 0, 29, 59), "#e0a020")
    assert not [how for how in proposed(image, tmp_path) if how.startswith("dial")]


@given(
    st.tuples(st.integers(1, 40), st.integers(1, 40)),
    st.lists(st.tuples(st.sampled_from(["#e0a020", "#606468"]), *[st.integers(0, 40)] * 4), max_size=4),
)
@settings(max_examples=60)
def test_any_shapes_are_valid_sources_or_none(
    size: tuple[int, int], shapes: list[tuple[str, int, int, int, int]]
) -> None:
    image, draw = drawn(*size)
    for colour, x1, y1, x2, y2 in shapes:
        draw.ellipse((min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)), colour)
    pixels = pixels_of(image)
    for dial in dials_of(pixels, [colour for colour, _ in colours_of(pixels)], TOLERANCE):
        table = {"from": "screen", "read": "dial", "region": [0, 0, *size], **asdict(dial)}
        source = TypeAdapter(AnySource).validate_python(table)
        assert isinstance(source, DialSource)
        value, sure = make_reader("it", source, Path()).read(pixels)
        assert isinstance(value, float)
        assert 0 <= value <= 1 >= sure >= 0
    for x, y, width, height in icons_of(pixels, TOLERANCE):
        assert 0 <= x < x + width <= size[0]
        assert 0 <= y < y + height <= size[1]
