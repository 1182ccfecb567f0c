from collections.abc import Iterator
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pluriverse_server.sources.screen.gauge import BarReader, Shades
from support.glyphs import Pixels, Style, bgrx, draw
from support.judged import CONFIDENCE, judged, near

LENGTH, THICKNESS = 100, 8
CROPS = 100

Direction = Literal["right", "left", "up", "down"]


def bar(full: int, direction: Direction = "right") -> Pixels:
    """A red bar of 100 pixels on dark blue."""
    rgb = np.full((THICKNESS, LENGTH, 3), (0, 0, 60), np.uint8)
    rgb[:, :full] = (220, 30, 30)
    turns = {"right": 0, "up": 1, "left": 2, "down": 3}
    return bgrx(np.rot90(rgb, turns[direction]))


def reader(direction: Direction = "right") -> BarReader:
    return BarReader(Shades(["#dc1e1e"], [], 48), direction)


@given(st.integers(0, LENGTH), st.sampled_from(["right", "left", "up", "down"]))
def test_a_bar_is_as_full_as_it_is_long(full: int, direction: Direction) -> None:
    assert reader(direction).read(bar(full, direction)) == (pytest.approx(full / LENGTH), 1.0)
    by_ground = BarReader(Shades([], ["#00003c"], 48), direction)
    assert by_ground.read(bar(full, direction)) == (pytest.approx(full / LENGTH), 1.0)


def test_something_else_in_its_place_is_unsure() -> None:
    pixels = bar(100)
    pixels[:, ::2] = 0
    assert reader().read(pixels)[1] < 0.2


def test_a_window_over_a_bar_is_unsure_where_both_colours_are_known() -> None:
    covered = bar(70)
    covered[:, 20:, :3] = 200
    both = BarReader(Shades(["#dc1e1e"], ["#00003c"], 48), "right")
    assert both.read(bar(70)) == (pytest.approx(0.7), 1.0)
    assert both.read(covered)[1] < CONFIDENCE
    assert reader().read(covered)[1] == 1.0


def noisy(rgb: NDArray[np.float64] | NDArray[np.uint8], random: np.random.Generator) -> Pixels:
    """What a picture looks like after a lossy film, or on a background with some texture."""
    return bgrx(np.clip(rgb + random.normal(0, 7, rgb.shape), 0, 255).astype(np.uint8))


def bars(kind: str, seed: int = 5) -> Iterator[tuple[Pixels, float]]:
    """Bars 120 pixels long, with letters upon them, ends between two pixels, and noise."""
    random = np.random.default_rng(seed)
    ground = np.array((28, 30, 40))
    for _ in range(CROPS):
        share = float(random.choice([0, 1, *random.random(8)]))
        along = np.arange(120)[None, :, None]
        covered = np.clip(share * 120 - along, 0, 1)
        rgb = np.empty((12, 120, 3))
        if kind == "two rows":
            rgb[:6], rgb[6:] = (250, 120, 110), (170, 20, 20)
        else:
            rgb[:] = (40, 200, 60) + (np.array((220, 40, 40)) - (40, 200, 60)) * along / 119
        rgb = rgb * covered + ground * (1 - covered)
        text = f"{share * 100:.0f} %" if "alone" not in kind else ""
        letters = draw(text, Style(size=9, width=120, height=12, align="centre"))[..., :1] / 255
        yield noisy(rgb * (1 - letters) + 255 * letters, random), share


SHADES = {
    "gradient alone": Shades([], ["#1c1e28"], 48),
    "gradient": Shades(["#28c83c", "#827832", "#dc2828"], ["#1c1e28"], 64),
    "two rows": Shades(["#fa786e", "#aa1414"], ["#1c1e28"], 48),
}


@pytest.mark.parametrize("kind", SHADES)
def test_bars_of_each_kind_are_read_and_none_of_them_wrong(kind: str) -> None:
    right, wrong = judged(BarReader(SHADES[kind], "right"), bars(kind), near(0.0125))
    assert wrong == 0
    assert right >= 0.98
