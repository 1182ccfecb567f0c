import numpy as np
import pytest
from pluriverse_server.lockstep import NoClock, colours, to_rgb


@pytest.mark.parametrize("shape", [(1, 1), (7, 5), (3, 8), (33, 130)])
def test_colours_change_places_the_same_in_c_and_without(
    shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    height, width = shape
    screen = np.random.default_rng(0).integers(0, 256, (height + 3, width + 9, 4), np.uint8)
    part = screen[1 : 1 + height, 2 : 2 + width]
    expected = part[..., 2::-1]
    made = np.zeros((height, width, 3), np.uint8)
    to_rgb(part, made)
    assert np.array_equal(made, expected)

    def none() -> None:
        raise NoClock("no compiler")

    monkeypatch.setattr(colours, "library", none)
    made[:] = 0
    to_rgb(part, made)
    assert np.array_equal(made, expected)
