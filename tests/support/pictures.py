"""Pictures that decoders are tried with."""

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]


def photo(width: int, height: int, moment: float = 0.0) -> Picture:
    """Like a photograph: soft shapes in many colours with a little grain; another one at each moment."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    waves = [np.sin(x / 37 + moment) + np.cos(y / 23 - moment), np.sin((x + y) / 61 + moment), np.cos(x * y / 9000)]
    grain = np.random.default_rng(int(moment * 1000)).normal(0, 2, (height, width, 3))
    return (127 + 45 * np.stack(waves, axis=2) + grain).clip(0, 255).astype(np.uint8)


def sprites(width: int, height: int, seed: int = 0, colours: int = 12) -> Picture:
    """Like an old game: rectangles of few colours on one background."""
    chance = np.random.default_rng(seed)
    palette = chance.integers(0, 256, (colours, 3), dtype=np.uint8)
    picture = np.broadcast_to(palette[0], (height, width, 3)).copy()
    for _ in range(40):
        x, y = chance.integers(0, width), chance.integers(0, height)
        w, h = chance.integers(2, 24, 2)
        picture[y : y + h, x : x + w] = palette[chance.integers(0, colours)]
    return picture


def writing(width: int, height: int, seed: int = 0) -> Picture:
    """Like text: black specks on white."""
    specks = np.random.default_rng(seed).random((height, width, 1)) < 0.2
    return np.where(specks, np.uint8(0), np.uint8(255)).repeat(3, axis=2)
