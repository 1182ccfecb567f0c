from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_server.sources.screen.glyphs import Ink, ink_of

LEVELS = st.integers(0, 255)


def test_what_stands_out_from_a_flat_ground_is_ink_whatever_its_colour() -> None:
    ink = Ink("contrast", 216, 40)
    for ground, glyph in ((0, 255), (250, 10), (100, 160)):
        pixels = np.full((4, 6, 4), ground, np.uint8)
        pixels[1:3, 2] = glyph
        assert np.array_equal(ink.strength(pixels) == 1, pixels[..., 0] == glyph)
    assert not ink.strength(np.full((4, 6, 4), 77, np.uint8)).any()


def one(red: int, green: int, blue: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    return np.array([[[blue, green, red, 0]]], np.uint8)


def test_a_colour_is_all_ink_and_fades_with_its_worst_channel() -> None:
    ink = Ink("colour", 20, 120, (200, 100, 50))
    assert ink.strength(one(200, 100, 50)) == 1
    assert ink.strength(one(190, 115, 50)) == 1
    assert ink.strength(one(200, 30, 50)) == pytest.approx(0.5)
    assert ink.strength(one(60, 100, 50)) == 0


def test_light_and_dark_are_opposites() -> None:
    light, dark = Ink("light", 160, 96), Ink("dark", 96, 160)
    for grey in range(256):
        assert light.strength(one(grey, grey, grey)) + dark.strength(one(grey, grey, grey)) == pytest.approx(1)


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
    assert 0 <= ink.strength(one(*colour)).item() <= 1


@pytest.mark.parametrize("wrong", [{"kind": "wet"}, {"colour": [1, 2]}, {"colour": [1, 2, 256]}, {"full": -1}])
def test_what_is_no_ink_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="ink"):
        ink_of({"kind": "colour", "full": 1, "none": 2, "colour": [1, 2, 3], **wrong})
