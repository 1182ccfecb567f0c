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
from pluriverse_server.sources.screen.glyphs import CHUNK, Glyphs, Ink, ink_of, load_glyphs

REMEDY = "pluriverse-server learn RUNTIME score"


LEVELS = st.integers(0, 255)


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
    path = tmp_path / "glyphs" / "score"
    glyphs.save(path)
    loaded = load(path)
    assert (loaded.characters, loaded.ink, loaded.region) == (glyphs.characters, glyphs.ink, glyphs.region)
    assert (loaded.top, loaded.space, loaded.spaced) == (glyphs.top, glyphs.space, glyphs.spaced)
    assert all(np.array_equal(one, other) for one, other in zip(loaded.pictures, glyphs.pictures, strict=True))


def test_what_learn_did_not_make_is_refused_with_the_command_that_makes_it(tmp_path: Path) -> None:
    path = tmp_path / "score.png"
    with pytest.raises(SourceError, match=rf"score: there is no {path}; .*{REMEDY}"):
        load(path)
    path.write_text("GIF89a")
    with pytest.raises(SourceError, match=rf"isn't a PNG file; .*{REMEDY}"):
        load(path)
    Image.new("L", (10, 10)).save(path)
    with pytest.raises(SourceError, match=rf"not a glyph file; .*{REMEDY}"):
        load(path)
    for text in ("", "[]", "{}", "[" * 100_000, '{"cell": [1e999, 1]}'):
        write(path, text)
        with pytest.raises(SourceError, match=REMEDY):
            load(path)


def test_what_stands_out_from_a_flat_ground_is_ink_whatever_its_colour() -> None:
    ink = Ink("contrast", 216, 40)
    for ground, glyph in ((0, 255), (250, 10), (100, 160)):
        pixels = np.full((4, 6, 4), ground, np.uint8)
        pixels[1:3, 2] = glyph
        assert np.array_equal(ink.strength(pixels) == 1, pixels[..., 0] == glyph)
    assert not ink.strength(np.full((4, 6, 4), 77, np.uint8)).any()


@given(st.sampled_from(["colour", "light", "dark"]), LEVELS, LEVELS, st.tuples(LEVELS, LEVELS, LEVELS))
def test_an_ink_survives_being_written_or_is_refused(
    kind: str, full: int, none: int, colour: tuple[int, int, int]
) -> None:
    table = {"kind": kind, "full": full, "none": none, "colour": list(colour)}
    if full == none or (full > none) != (kind == "light"):
        with pytest.raises(ValueError, match="no ink"):
            ink_of(table)
        return
    ink = ink_of(table)
    assert ink.as_json() == table
    # Fades from full to none with the worst channel.
    strengths = ink.strength(np.array([[[*colour[::-1], 0], [0, 0, 0, 0], [255, 255, 255, 0]]], np.uint8))
    assert ((strengths >= 0) & (strengths <= 1)).all()
    if kind == "colour":
        assert strengths[0, 0] == 1
    else:
        assert (strengths[0, 2] >= strengths[0, 1]) == (kind == "light") or strengths[0, 1] == strengths[0, 2]


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


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
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
