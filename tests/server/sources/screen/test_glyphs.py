from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from pluriverse_server.sources.reading import SourceError
from pluriverse_server.sources.screen import images
from pluriverse_server.sources.screen.glyphs import CHUNK, Glyphs, Ink, load_glyphs

REMEDY = "pluriverse-server learn RUNTIME score"


def load(path: Path) -> Glyphs:
    return load_glyphs(path, "score", Path("RUNTIME"))


@pytest.fixture
def glyphs() -> Glyphs:
    bar, block = np.ones((8, 2), np.float32), np.full((8, 5), 0.6, np.float32)
    return Glyphs("1■■", (bar, block, block), Ink("colour", 30, 120, (255, 200, 0)), (100, 12), 3, 6)


def said(path: Path) -> dict[str, object]:
    with Image.open(path) as image:
        return json.loads(image.info[CHUNK])


def write(path: Path, table: object, size: tuple[int, int] = (15, 8)) -> None:
    chunk = PngInfo()
    chunk.add_text(CHUNK, table if isinstance(table, str) else json.dumps(table))
    Image.new("L", size, 255).save(path, pnginfo=chunk)


def test_a_file_holds_what_was_saved(glyphs: Glyphs, tmp_path: Path) -> None:
    path = tmp_path / "glyphs" / "score.png"
    glyphs.save(path)
    loaded = load(path)
    assert (loaded.characters, loaded.ink, loaded.region) == (glyphs.characters, glyphs.ink, glyphs.region)
    assert (loaded.top, loaded.space, loaded.spaced) == (glyphs.top, glyphs.space, glyphs.spaced)
    assert all(np.array_equal(one, other) for one, other in zip(loaded.pictures, glyphs.pictures, strict=True))


def test_a_file_may_be_called_anything(glyphs: Glyphs, tmp_path: Path) -> None:
    path = tmp_path / "score"
    glyphs.save(path)
    assert load(path).characters == glyphs.characters


def test_the_strip_can_be_looked_at(glyphs: Glyphs, tmp_path: Path) -> None:
    glyphs.save(tmp_path / "score.png")
    with Image.open(tmp_path / "score.png") as image:
        assert (image.mode, image.size) == ("L", (15, 8))


def test_a_missing_file_is_named_with_the_command_that_makes_it(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=rf"score: there is no {tmp_path}/none.png; .*{REMEDY}"):
        load(tmp_path / "none.png")


def test_what_is_no_png_is_named_as_such(tmp_path: Path) -> None:
    (tmp_path / "score.png").write_text("GIF89a")
    with pytest.raises(SourceError, match=rf"is no PNG file; .*{REMEDY}"):
        load(tmp_path / "score.png")


def test_a_png_that_breaks_off_is_refused(glyphs: Glyphs, tmp_path: Path) -> None:
    path = tmp_path / "score.png"
    glyphs.save(path)
    whole = path.read_bytes()
    for length in range(8, len(whole) // 2, 7):
        path.write_bytes(whole[:length])
        with pytest.raises(SourceError, match=REMEDY):
            load(path)


def test_a_picture_that_learn_did_not_make_is_refused(tmp_path: Path) -> None:
    Image.new("L", (10, 10)).save(tmp_path / "score.png")
    with pytest.raises(SourceError, match=rf"no glyph file; .*{REMEDY}"):
        load(tmp_path / "score.png")


def test_files_and_pictures_beyond_the_limits_are_refused(
    glyphs: Glyphs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "score.png"
    glyphs.save(path)
    monkeypatch.setattr(images, "MAX_PIXELS", 119)
    with pytest.raises(SourceError, match="15x8 pixels, expected at most 119"):
        load(path)
    monkeypatch.setattr(images, "MAX_FILE_BYTES", 100)
    with pytest.raises(SourceError, match="bytes, expected at most 100"):
        load(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(
    key=st.sampled_from(["characters", "cell", "widths", "ink", "region", "top", "space"]),
    value=st.none()
    | st.integers()
    | st.text(max_size=3)
    | st.lists(st.integers(-3, 300), max_size=4)
    | st.just({"kind": 1}),
)
def test_a_damaged_text_never_breaks_out(key: str, value: object, glyphs: Glyphs, tmp_path: Path) -> None:
    whole, damaged = tmp_path / "score.png", tmp_path / "damaged.png"
    if not whole.exists():
        glyphs.save(whole)
    write(damaged, {**said(whole), key: value})
    try:
        load(damaged)
    except SourceError as error:
        assert REMEDY in str(error)  # noqa: PT017 - that it loads is as good


@pytest.mark.parametrize("text", ["", "[]", "{}", "[" * 100_000, '{"cell": [1e999, 1]}'])
def test_a_text_that_is_no_table_is_refused(text: str, tmp_path: Path) -> None:
    write(tmp_path / "score.png", text)
    with pytest.raises(SourceError, match=REMEDY):
        load(tmp_path / "score.png")
