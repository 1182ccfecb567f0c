"""What is made of a screen, in Python; tests/client/native compares it with what the native decoder makes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pluriverse.rfb import Region
from pluriverse.rfb.picture import Picture, PictureSpec, average


def noise(height: int, width: int) -> NDArray[np.uint8]:
    return np.random.default_rng(height * 100 + width).integers(0, 256, (height, width, 3), dtype=np.uint8)


def picture_of(screen: NDArray[np.uint8], spec: PictureSpec) -> NDArray[np.uint8]:
    painted = np.zeros_like(screen)
    picture = Picture(spec, painted)
    painted[...] = screen
    picture.update(Region(0, 0, screen.shape[1], screen.shape[0]))
    return picture.pixels


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 12))
def test_each_pixel_is_the_rounded_mean_of_its_square(height: int, width: int, scale: int) -> None:
    screen = noise(height, width)
    frame = picture_of(screen, PictureSpec(scale=scale))
    assert frame.shape == (max(1, height // scale), max(1, width // scale), 3)
    for y, x in np.ndindex(frame.shape[:2]):
        square = screen[y * scale : (y + 1) * scale, x * scale : (x + 1) * scale].reshape(-1, 3).astype(int)
        count = len(square)
        assert frame[y, x].tolist() == ((square.sum(axis=0) + count // 2) // count).tolist()


@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 15), st.integers(1, 15))
def test_pixels_of_any_size_are_rounded_means_of_their_area(height: int, width: int, down: int, across: int) -> None:
    screen = noise(height, width)
    summed = np.einsum("yr,xc,rcn->yxn", shares(height, down), shares(width, across), screen.astype(int))
    area = height * width
    assert (2 * abs(summed - area * average(screen, (down, across)).astype(int)) <= area).all()


def shares(size: int, of: int) -> NDArray[np.int_]:
    """How much of each of ``size`` pixels is in each of ``of``: integers, so that sums are exact."""
    new, old = np.arange(of)[:, None], np.arange(size)[None]
    return np.maximum(0, np.minimum((new + 1) * size, (old + 1) * of) - np.maximum(new * size, old * of))


def test_grey_is_one_channel_of_luma() -> None:
    colours = np.array([[[255, 255, 255], [0, 0, 0], [255, 0, 0], [0, 255, 0], [0, 0, 255]]], np.uint8)
    assert picture_of(colours, PictureSpec(grey=True)).tolist() == [[[255], [0], [77], [149], [29]]]


@pytest.mark.parametrize("scale", [1, 2])
def test_a_crop_is_black_beyond_the_screen(scale: int) -> None:
    screen = np.full((10, 12, 3), 200, np.uint8)
    picture = picture_of(screen, PictureSpec(crop=Region(8, 6, 8, 8), scale=scale))
    assert picture.shape == (8 // scale, 8 // scale, 3)
    assert (picture[: 4 // scale, : 4 // scale] == 200).all()
    assert not picture[4 // scale :].any()
    assert not picture[:, 4 // scale :].any()


@given(st.data())
def test_what_is_painted_piece_by_piece_gives_the_same_picture(data: st.DataObject) -> None:
    screen = noise(30, 40)
    side = st.integers(1, 50)
    size = data.draw(st.one_of(st.none(), st.tuples(side, side)))
    crop = data.draw(st.one_of(st.none(), st.builds(Region, st.integers(0, 45), st.integers(0, 35), side, side)))
    scale = 1 if size else data.draw(st.integers(1, 5))
    spec = PictureSpec(crop, size, scale, data.draw(st.booleans()))
    painted = np.zeros_like(screen)
    picture = Picture(spec, painted)
    for _ in range(data.draw(st.integers(1, 4))):
        x, y = data.draw(st.integers(0, 39)), data.draw(st.integers(0, 29))
        part = Region(x, y, data.draw(st.integers(1, 40 - x)), data.draw(st.integers(1, 30 - y)))
        area = np.s_[part.y : part.y + part.height, part.x : part.x + part.width]
        painted[area] = screen[area]
        picture.update(part)
    np.testing.assert_array_equal(picture.pixels, picture_of(painted, spec))


def test_the_block_is_as_it_is_on_the_screen() -> None:
    screen = noise(10, 12)
    spec = PictureSpec(scale=4, grey=True, block=Region(9, 3, 6, 2))
    picture = Picture(spec, screen)
    block = np.frombuffer(picture.block() or b"", np.uint8).reshape(2, 6, 3)
    np.testing.assert_array_equal(block[:, :3], screen[3:5, 9:12])
    assert not block[:, 3:].any()
    assert Picture(PictureSpec(), screen).block() is None
