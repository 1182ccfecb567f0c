from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from pluriverse_server.sources.screen.upright import height_of, straightened

LINE = np.zeros((60, 140), np.float32)
LINE[22:38, 20:120:8], LINE[22:25, 20:120], LINE[35:38, 20:120] = 1, 1, 1


@pytest.mark.parametrize("angle", [-6, -2, 0, 3, 7])
def test_a_tilted_line_is_straightened_to_the_height_that_is_asked_for(angle: float) -> None:
    turned = np.asarray(Image.fromarray(LINE).rotate(angle, Image.Resampling.BILINEAR))
    assert height_of(turned) == pytest.approx(16, abs=2)
    rows = next(straightened(turned, 16))
    assert rows.shape[0] == 16
    assert rows[[1, -2], 6:-6].min() > 0.5
    assert rows[8].min() < 0.3


def test_nothing_is_straightened_to_nothing() -> None:
    assert not list(straightened(np.zeros((5, 5), np.float32), 16))
    assert height_of(np.zeros((5, 5), np.float32)) == 0
