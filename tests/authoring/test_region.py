from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from pluriverse_authoring.region import Proposal, Proposer
from pluriverse_server.manifest.sources import AnySource
from pluriverse_server.sources.reading import Pixels, SourceError
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
        assert table["region"] == [10, 20, image.width, image.height]
        if table["read"] == "template":
            table["image"] = "cut.png"
        TypeAdapter(AnySource).validate_python(table)
    return {proposal.how: proposal for proposal in found}


def test_a_line_with_two_numbers_is_read_as_either_and_as_a_text(tmp_path: Path) -> None:
    pytest.importorskip("tesserocr")
    image, draw = drawn(260, 32, "white")
    draw.text((6, 4), "Score: 120  Lives: 3", "black", ImageFont.load_default(20))
    found = proposed(image, tmp_path)
    assert found["number in “Score: {} Lives: *” by Tesseract"].value == 120
    assert found["number in “Score: * Lives: {}” by Tesseract"].value == 3
    assert found["text by Tesseract"].value == "Score: 120 Lives: 3"


def test_a_pattern_that_was_edited_reads_the_same_picture(tmp_path: Path) -> None:
    pytest.importorskip("tesserocr")
    image, draw = drawn(260, 32, "white")
    draw.text((6, 4), "Level: 1 Score: 0", "black", ImageFont.load_default(20))
    proposer, pixels = Proposer(tmp_path), pixels_of(image)
    table = {"from": "screen", "read": "number", "region": [0, 0, 260, 32]}
    assert proposer.read({**table, "written": "* Score: {}"}, pixels)[0] == 0
    assert proposer.read({**table, "written": "Lives: {}"}, pixels)[0] is None
    with pytest.raises(SourceError, match="expected"):
        proposer.read({**table, "written": "Score: *"}, pixels)


def test_the_runtimes_own_glyphs_read_a_number_first(tmp_path: Path) -> None:
    import runpy

    from pluriverse_authoring import init

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
    assert (bar.table["colour"], bar.table["direction"]) == ("#d02010", "left")


def test_a_flat_region_is_a_colour_and_neither_picture_nor_bar(tmp_path: Path) -> None:
    image, _ = drawn(40, 40, "#2e8b57")
    assert {how: proposal.value for how, proposal in proposed(image, tmp_path).items()} == {
        "share of #2e8b57": 1,
    }
