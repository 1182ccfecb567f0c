import numpy as np
import pytest
from pluriverse.adapters.pictures import PictureOptions, Pictures
from pluriverse.errors import ConfigurationError

SCREEN = np.random.default_rng(0).integers(0, 256, (30, 40, 3), np.uint8)
SCREEN.flags.writeable = False
BOX = (5, 6, 20, 10)


def test_picture_is_what_the_environment_draws_on() -> None:
    pictures = Pictures(PictureOptions(), BOX)
    assert pictures.shape == (10, 20, 3)
    np.testing.assert_array_equal(pictures.make(SCREEN), SCREEN[6:16, 5:25])


def test_grey_and_smaller_pictures_have_the_shape_that_was_asked_for() -> None:
    pictures = Pictures(PictureOptions(size=(5, 7), grey=True), BOX)
    assert pictures.shape == (5, 7, 1)
    picture = pictures.make(SCREEN)
    assert picture.shape == (5, 7, 1)
    assert picture.dtype == np.uint8


def test_crop_beyond_the_screen_is_refused() -> None:
    PictureOptions(crop=(24, 68, 1000, 700)).require_within(1024, 768)
    with pytest.raises(ConfigurationError, match=r"crop is .*; the screen is 1024 by 768 pixels"):
        PictureOptions(crop=(25, 68, 1000, 700)).require_within(1024, 768)
