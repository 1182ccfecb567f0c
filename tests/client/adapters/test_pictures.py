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


def test_smaller_picture_is_the_mean_of_what_it_stands_for() -> None:
    pictures = Pictures(PictureOptions(size=(5, 10)), BOX)
    means = SCREEN[6:16, 5:25].reshape(5, 2, 10, 2, 3).mean((1, 3))
    np.testing.assert_allclose(pictures.make(SCREEN), means, atol=1)


def test_of_a_screen_that_is_too_small_the_rest_is_black() -> None:
    picture = Pictures(PictureOptions(), BOX).make(SCREEN[:10, :15])
    np.testing.assert_array_equal(picture[:4, :10], SCREEN[6:10, 5:15])
    assert not picture[4:].any()
    assert not picture[:, 10:].any()


def test_crop_beyond_the_screen_is_refused() -> None:
    PictureOptions(crop=(24, 68, 1000, 700)).require_within(1024, 768)
    with pytest.raises(ConfigurationError, match=r"crop is .*; the screen is 1024 by 768 pixels"):
        PictureOptions(crop=(25, 68, 1000, 700)).require_within(1024, 768)
