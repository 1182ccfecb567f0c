from __future__ import annotations

import numpy as np
import pytest
from pluriverse_server.sources.screen.outlined import strokes

# A ring with its outline around it and in its hole, in which the ground is seen: X is outline, o stroke, . ground.
RING = """
.............
..XXXXXXXXX..
..XoooooooX..
..XoXXXXXoX..
..XoX...XoX..
..XoXXXXXoX..
..XoooooooX..
..XXXXXXXXX..
.............
"""


def pixels(picture: str) -> np.ndarray:
    return np.array([list(row) for row in picture.split()])


@pytest.mark.parametrize("ground", ["stroke", "outline", "neither"])
def test_what_an_outline_encloses_is_ink_whatever_the_ground_is(ground: str) -> None:
    shown = pixels(RING)
    wall = (shown == "X") | ((shown == ".") & (ground == "outline"))
    ink = ((shown == "o") | ((shown == ".") & (ground == "stroke"))).astype(np.float32)
    assert np.array_equal(strokes(ink, wall), (shown == "o").astype(np.float32))


def test_ink_beside_an_outline_that_is_not_closed_stays() -> None:
    torn = pixels(RING)[:5]
    left = strokes((torn == "o").astype(np.float32), torn == "X")
    assert left[2, 4] == 1
    assert not left[torn != "o"].any()


def test_without_an_outline_there_is_no_ink() -> None:
    assert not strokes(np.ones((9, 9), np.float32), np.zeros((9, 9), np.bool_)).any()
