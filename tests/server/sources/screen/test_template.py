from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image
from pluriverse_server.sources.reading import SourceError
from pluriverse_server.sources.screen.template import TemplateReader, load_template
from support.glyphs import Style, bgrx, draw

WIDTH, HEIGHT = 100, 40


def picture(seed: int = 1) -> NDArray[np.uint8]:
    """Blots of colour: RGBA."""
    coarse = np.random.default_rng(seed).integers(0, 256, (HEIGHT // 5, WIDTH // 5, 4), dtype=np.uint8)
    coarse[..., 3] = 255
    return coarse.repeat(5, axis=0).repeat(5, axis=1)


def test_the_picture_itself_is_there_for_sure_and_another_is_not() -> None:
    reader = TemplateReader(picture(), (WIDTH, HEIGHT))
    assert reader.read(bgrx(picture()[..., :3])) == (True, 1.0)
    assert reader.read(bgrx(picture(2)[..., :3])) == (False, 1.0)
    for grey in (0, 128, 255):
        assert reader.read(np.full((HEIGHT, WIDTH, 4), grey, np.uint8)) == (False, 1.0)
    plain = np.full((20, 20, 4), (200, 100, 50, 255), np.uint8)
    for darker, expected in ((0, True), (40, False)):
        assert TemplateReader(plain, (20, 20)).read(bgrx(plain[..., :3] - np.uint8(darker)))[0] is expected


def test_words_on_a_plain_ground_are_not_taken_for_the_ground() -> None:
    words = draw("GAME OVER", Style("DejaVuSans", size=12))
    rgba = np.dstack((words[..., 2::-1], np.full(words.shape[:2], 255, np.uint8)))
    reader = TemplateReader(rgba, (words.shape[1], words.shape[0]))
    assert reader.read(words) == (True, 1.0)
    assert reader.read(draw("", Style())) == (False, 1.0)


def test_transparent_parts_may_show_anything() -> None:
    masked = picture()
    masked[:, 50:, 3] = 0
    shown = picture()
    shown[:, 50:] = 7
    assert TemplateReader(masked, (WIDTH, HEIGHT)).similarity(bgrx(shown[..., :3])) == pytest.approx(1)
    assert TemplateReader(picture(), (WIDTH, HEIGHT)).read(bgrx(shown[..., :3]))[0] is False


@settings(max_examples=40, deadline=None)
@given(st.integers(-6, 6), st.integers(-6, 6), st.booleans())
def test_a_shifted_picture_is_found_within_its_shift_and_not_beyond(x: int, y: int, masked: bool) -> None:
    shift = 4
    screen = np.zeros((HEIGHT + 12, WIDTH + 12, 3), np.uint8)
    screen[6 + y : 6 + y + HEIGHT, 6 + x : 6 + x + WIDTH] = picture()[..., :3]
    wanted = picture()
    wanted[:8, :8, 3] = 0 if masked else 255
    reader = TemplateReader(wanted, (WIDTH + 12, HEIGHT + 12), shift=shift)
    assert reader.read(bgrx(screen))[0] is (max(abs(x), abs(y)) <= shift)


def test_close_to_the_threshold_it_is_unsure() -> None:
    shown = bgrx(picture()[..., :3])
    shown[:5] = 128
    reader = TemplateReader(picture(), (WIDTH, HEIGHT))
    similarity = reader.similarity(shown)
    near = TemplateReader(picture(), (WIDTH, HEIGHT), threshold=similarity)
    assert near.read(shown) == (True, pytest.approx(0.5))


def test_a_region_without_room_is_refused_with_the_size_that_it_needs(tmp_path: Path) -> None:
    path = tmp_path / "over.png"
    Image.fromarray(picture()).save(path)
    for width, height, shift in ((99, 40, 0), (100, 39, 0), (103, 44, 2)):
        needed = f"at least {100 + 2 * shift}x{40 + 2 * shift}, not {width}x{height}"
        with pytest.raises(SourceError, match=rf"over: {path}: .*{needed}"):
            load_template(path, "over", (width, height), 0.9, shift)


def test_a_picture_of_nothing_is_refused(tmp_path: Path) -> None:
    Image.new("RGBA", (10, 10)).save(tmp_path / "over.png")
    with pytest.raises(SourceError, match="fully transparent"):
        load_template(tmp_path / "over.png", "over", (10, 10), 0.9, 0)


@pytest.mark.parametrize("mode", ["RGB", "L", "P", "1", "LA", "RGBA"])
def test_pngs_of_all_kinds_are_taken(mode: str, tmp_path: Path) -> None:
    Image.new("RGB", (10, 10), "white").convert(mode).save(tmp_path / "over.png")
    load_template(tmp_path / "over.png", "over", (10, 10), 0.9, 0)
