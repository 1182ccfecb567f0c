from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pluriverse_authoring.learn import learn
from pluriverse_server.manifest.sources import AnySource, ScreenSource
from pluriverse_server.sources.reading import SourceError
from pluriverse_server.sources.screen import make_reader
from pydantic import TypeAdapter
from support.glyphs import Style, draw

STYLE = Style("DejaVuSans")


def source(read: str, region: tuple[int, ...] = (0, 0, 120, 28), **more: Any) -> ScreenSource:
    table = {"from": "screen", "read": read, "region": list(region), **more}
    read_source: Any = TypeAdapter[Any](AnySource).validate_python(table)
    return read_source


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    texts = ("0123", "4567", "89")
    learn([(draw(text, STYLE), text) for text in texts]).glyphs.save(tmp_path / "glyphs" / "score.png")
    Image.fromarray(draw("3", STYLE)[..., 2::-1]).save(tmp_path / "three.png")
    return tmp_path


@pytest.mark.parametrize(
    ("table", "value"),
    [
        (source("number", glyphs="glyphs/score.png"), 3.0),
        (source("text", glyphs="glyphs/score.png"), "3"),
        (source("template", image="three.png"), True),
        (source("colour", colour="#000000", tolerance=255), 1.0),
        (source("bar", colour="#ffffff"), 0.0),
    ],
)
def test_each_kind_of_source_is_read_in_a_part_of_a_larger_picture(
    table: ScreenSource, value: object, directory: Path
) -> None:
    screen = np.zeros((100, 300, 4), np.uint8)
    screen[40:68, 100:220] = draw("3", STYLE)
    assert make_reader("score", table, directory).read(screen[40:68, 100:220])[0] == value


def test_a_region_smaller_than_its_glyphs_or_its_picture_is_refused(directory: Path) -> None:
    with pytest.raises(SourceError, match=r"score: .* pixels high, its region has 8; make the region higher"):
        make_reader("score", source("number", (0, 0, 120, 8), glyphs="glyphs/score.png"), directory)
    with pytest.raises(SourceError, match=r"over: .* needs a region of at least 120x28, not 100x28"):
        make_reader("over", source("template", (0, 0, 100, 28), image="three.png"), directory)
