import base64
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pillow
from pluriverse.adapters.computer.images import Image, shown
from pluriverse.adapters.computer.view import View


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_a_png_is_the_picture_to_the_last_bit(height: int, width: int, seed: int) -> None:
    picture = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    image = Image(picture, "png")
    assert image.media_type == "image/png"
    assert np.array_equal(np.asarray(image.pil()), picture)
    head, _, data = image.data_url().partition(",")
    assert (head, base64.b64decode(data)) == ("data:image/png;base64", image.data)
    assert np.array_equal(np.asarray(Pillow.open(io.BytesIO(image.data))), picture)


def test_a_jpeg_is_nearly_the_picture() -> None:
    rows, columns = np.mgrid[0:100, 0:160]
    picture = np.stack([rows, columns, rows + columns], axis=2).astype(np.uint8)
    image = Image(picture, "jpeg")
    assert image.media_type == "image/jpeg"
    decoded = np.asarray(Pillow.open(io.BytesIO(image.data))).astype(int)
    assert np.abs(decoded - picture).mean() < 3


@pytest.mark.parametrize("size", [(100, 50), (50, 25), (200, 100), (33, 17)])
def test_a_view_is_shown_in_its_size(size: tuple[int, int]) -> None:
    screen = np.zeros((200, 300, 3), np.uint8)
    screen[60:110, 20:120] = (10, 20, 30)
    picture = shown(screen, View((20, 60, 100, 50), *size))
    assert picture.shape == (size[1], size[0], 3)
    assert (picture == (10, 20, 30)).all()
