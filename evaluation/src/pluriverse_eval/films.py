"""Films of recorded episodes that a browser plays: animated WebP, small and slower than what was played."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pluriverse.recording.recorded_screen import RecordedScreen
from pluriverse.rfb import Region
from pluriverse.rfb.decoder import make_picture
from pluriverse.rfb.picture import PictureSpec
from pluriverse_protocol.recordings import Said

FPS: Final = 8
WIDTH: Final = 240
HEIGHT: Final = 180
SECONDS: Final = 60
QUALITY: Final = 55

# What is shown of an end that comes in the middle of a picture.
LAST_MS: Final = 1500


def write_film(recording: Path, film: Path) -> None:
    pictures = [Image.fromarray(picture) for picture in _pictures(RecordedScreen(recording))]
    durations = [1000 // FPS] * (len(pictures) - 1) + [LAST_MS]
    # Whole or not at all, also on a full disk.
    new = film.with_suffix(".new")
    pictures[0].save(
        new, "WEBP", save_all=True, append_images=pictures[1:], duration=durations, loop=0, quality=QUALITY, method=2
    )
    new.replace(film)


def _pictures(recorded: RecordedScreen) -> Generator[NDArray[np.uint8]]:
    """Yield pictures of the environment's part of the screen, ``FPS`` of each second of game time."""
    header = recorded.header
    box = 0, 0, header.width, header.height
    due = 1 / FPS
    for record in recorded.records():
        if isinstance(record, Said) and "picture" in record.said:
            box = recorded.box(record.said)
        while record.at > due and due <= SECONDS:
            yield _small(recorded.rgb(), box)
            due += 1 / FPS
    yield _small(recorded.rgb(), box)


def _small(screen: NDArray[np.uint8], box: tuple[int, ...]) -> NDArray[np.uint8]:
    x, y, width, height = box
    factor = min(1.0, WIDTH / width, HEIGHT / height)
    size = max(1, round(height * factor)), max(1, round(width * factor))
    return make_picture(screen, PictureSpec(Region(x, y, width, height), size))
