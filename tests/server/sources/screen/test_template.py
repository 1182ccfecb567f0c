from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from pluriverse_server.sources.reading import SourceError
from pluriverse_server.sources.screen.template import CountReader, TemplateReader, load_count, load_template
from support.glyphs import Pixels, Style, bgrx, draw
from support.judged import CONFIDENCE, judged

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
    with pytest.raises(SourceError, match=r"lives: .*: .* 100x40 pixels needs a region of at least that, not 40x9"):
        load_count(path, "lives", (40, 9), 0.9)


def test_a_picture_of_nothing_is_refused(tmp_path: Path) -> None:
    Image.new("RGBA", (10, 10)).save(tmp_path / "over.png")
    with pytest.raises(SourceError, match="fully transparent"):
        load_template(tmp_path / "over.png", "over", (10, 10), 0.9, 0)


@pytest.mark.parametrize("mode", ["RGB", "L", "P", "1", "LA", "RGBA"])
def test_pngs_of_all_kinds_are_taken(mode: str, tmp_path: Path) -> None:
    Image.new("RGB", (10, 10), "white").convert(mode).save(tmp_path / "over.png")
    load_template(tmp_path / "over.png", "over", (10, 10), 0.9, 0)


def icon(kind: str, *, full: bool = True) -> Image.Image:
    """A heart or a tile, 17 pixels large: RGBA, smoothed, transparent around it."""
    times = 4
    picture = Image.new("RGBA", (17 * times, 17 * times), (0, 0, 0, 0))
    pen = ImageDraw.Draw(picture)
    fill = (225, 40, 50, 255) if full else (60, 60, 70, 255)
    shine = (255, 255, 255, 255) if full else fill
    if kind == "heart":
        for margin, colour in ((0, (20, 10, 20, 255)), (6, fill)):
            pen.ellipse((2 + margin, 6 + margin, 34 - margin, 38 - margin), fill=colour)
            pen.ellipse((32 + margin, 6 + margin, 64 - margin, 38 - margin), fill=colour)
            pen.polygon([(4 + margin, 30), (62 - margin, 30), (33, 64 - margin)], fill=colour)
        pen.ellipse((12, 14, 22, 24), fill=shine)
    else:
        pen.rectangle((0, 0, 67, 67), fill=(30, 70, 180, 255) if full else fill)
        pen.rectangle((20, 12, 46, 56), fill=shine)
    return picture.resize((17, 17), Image.Resampling.BOX)


def icons(kind: str, background: str, seed: int = 2) -> list[tuple[Pixels, int]]:
    """Rows of icons, the lost ones grey, over what the game shows there."""
    random = np.random.default_rng(seed)
    crops: list[tuple[Pixels, int]] = []
    for number in range(100):
        behind = draw("", Style(width=150, height=44, background=background, behind=(30, 40, 50)), number)  # type: ignore[arg-type]
        picture = Image.fromarray(behind[..., 2::-1].copy()).convert("RGBA")
        count, left, top, step = (int(random.integers(*ends)) for ends in ((0, 11), (0, 8), (0, 8), (17, 27)))
        for place in range(10):
            lost = icon(kind, full=False) if random.random() < 0.5 else None
            shown = icon(kind) if place < count else lost
            if shown is not None:
                picture.alpha_composite(shown, (left + place % 5 * step, top + place // 5 * 18))
        noise = random.normal(0, 6, (44, 150, 3))
        crops.append((bgrx(np.clip(np.asarray(picture)[..., :3] + noise, 0, 255).astype(np.uint8)), count))
    return crops


@pytest.mark.parametrize(("kind", "background"), [("heart", "plain"), ("heart", "noise"), ("tile", "gradient")])
def test_icons_are_counted_and_never_wrongly(kind: str, background: str) -> None:
    reader = CountReader(np.asarray(icon(kind)), (150, 44), 0.9)
    right, wrong = judged(reader, icons(kind, background))
    assert wrong == 0
    assert right >= 0.98


def test_a_count_is_unsure_of_what_is_almost_the_picture() -> None:
    whole, half = np.asarray(icon("tile")), np.asarray(icon("tile")).copy()
    half[:, 12:, :3] = 150
    similarity = TemplateReader(whole, (17, 17)).similarity(bgrx(half[..., :3]))
    assert CountReader(whole, (17, 17), similarity + 0.01).read(bgrx(half[..., :3]))[1] < CONFIDENCE
    assert CountReader(whole, (17, 17), similarity - 0.01).read(bgrx(half[..., :3]))[1] < CONFIDENCE
