"""A recording as a film: MP4 where ffmpeg is there, else animated PNG."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pluriverse.adapters.pictures import PictureOptions, Pictures
from pluriverse.wrappers.video import VideoWriter, open_video

from .film import Film


def write_movie(film: Film, stem: Path, *, fps: float | None, options: PictureOptions) -> tuple[Path, int]:
    """Write all of a recording at ``stem``, with the suffix of its format; returns its path and its number of pictures.

    Raises:
        pluriverse.wrappers.video.VideoError: it can't be written.
        ConfigurationError: pictures are to be made smaller, and OpenCV isn't installed.
    """
    header = film.header
    fps = fps or header.fps
    pictures = Pictures(options, (0, 0, header.width, header.height))
    writer: VideoWriter | None = None
    due, count = 0.0, 0

    def look() -> None:
        nonlocal writer, count
        picture = pictures.make(np.ascontiguousarray(film.screen[:, :, 2::-1]))
        picture = np.broadcast_to(picture, (*picture.shape[:2], 3))
        if writer is None:
            writer = open_video(stem, picture, fps)
        else:
            writer.write(picture)
        count += 1

    try:
        for record in film.records():
            while record.at > due:
                look()
                due += 1 / fps
        look()
    finally:
        if writer is not None:
            writer.close()
    assert writer is not None
    return writer.path, count
