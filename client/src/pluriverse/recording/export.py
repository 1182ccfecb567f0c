"""``pluriverse export``: recordings to a dataset or to films, with a line of report for each."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Final, cast, get_args

import numpy as np

from pluriverse.adapters.actions import Kind
from pluriverse.adapters.pictures import PictureOptions, Pictures
from pluriverse.errors import ConfigurationError
from pluriverse.remotes import waiting
from pluriverse.wrappers.video import SUFFIX, VideoError, VideoWriter

from .dataset import write_dataset
from .demonstrations import Demonstration, demonstrations
from .recorded_screen import RecordedScreen

# Lists of events have no space of a fixed size.
KINDS: Final = tuple(kind for kind in get_args(Kind) if kind != "events")


class Export:
    """Some recordings, and how their pictures and actions are to be written."""

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        fps: float | None,
        size: tuple[int, int] | None,
        kind: str | None,
        report: Callable[[str], None],
    ) -> None:
        """Check the options, and that all recordings can be read, before anything is written.

        ``fps`` steps a second, ``size`` (height, width), ``kind`` of actions; None: as the recording has it. ``report``
        is called with each line.
        """
        if kind is not None and kind not in KINDS:
            raise ConfigurationError(f"--actions {kind}: expected one of {', '.join(KINDS)}")
        self._paths = paths
        self._fps = fps
        self._options = PictureOptions(size=size)
        self._kind: Kind | None = cast("Kind | None", kind)
        self._report = report
        for path in paths:
            RecordedScreen(path)

    def to_minari(self, dataset_id: str) -> None:
        count = write_dataset(dataset_id, self._episodes())
        self._report(f"{dataset_id}: {count} episodes; load them with minari.load_dataset({dataset_id!r})")

    def to_video(self, path: Path) -> None:
        """Write a film of each recording.

        Of several, each has its recording's name behind that of ``path``, or its number where two names are the same.
        """
        names = [recording.stem for recording in self._paths]
        if len(set(names)) < len(names):
            names = [str(number) for number in range(1, len(names) + 1)]
        for recording, name in zip(self._paths, names, strict=True):
            recorded = RecordedScreen(recording)
            place = path if len(names) == 1 else path.with_stem(f"{path.stem}-{name}")
            place = place.with_suffix(SUFFIX)
            with waiting(f"writing {place}"):
                pictures = _write_film(recorded, place, fps=self._fps, options=self._options)
            self._report(f"{place}: {pictures} pictures of {recording}")
            self._report_damage(recorded)

    def _episodes(self) -> Generator[Demonstration]:
        for path in self._paths:
            recorded = RecordedScreen(path)
            for episode in demonstrations(recorded, fps=self._fps, options=self._options, kind=self._kind):
                outcome = episode.reason or ("terminated" if episode.terminated else "truncated")
                steps, reward = len(episode.actions), sum(episode.rewards)
                self._report(f"{path}: {episode.env_id}: {steps} steps, reward {reward:g}: {outcome}")
                yield episode
            self._report_damage(recorded)

    def _report_damage(self, recorded: RecordedScreen) -> None:
        if recorded.damage is not None:
            self._report(f"{recorded.path}: the rest can't be read: {recorded.damage}")


def _write_film(recorded: RecordedScreen, path: Path, *, fps: float | None, options: PictureOptions) -> int:
    """Write a film; return its number of pictures. If this fails, no file is left."""
    header = recorded.header
    fps = fps or header.fps
    pictures = Pictures(options, (0, 0, header.width, header.height))
    writer: VideoWriter | None = None
    due, count = 0.0, 0

    def write() -> None:
        nonlocal writer, count
        picture = pictures.make(recorded.rgb())
        picture = np.broadcast_to(picture, (*picture.shape[:2], 3))
        if writer is None:
            writer = VideoWriter(path, picture.shape[1], picture.shape[0], fps)
        writer.write(picture)
        count += 1

    try:
        for record in recorded.records(fps):
            while record.at > due:
                write()
                due += 1 / fps
        write()
        assert writer is not None
        writer.close()
    except BaseException:
        if writer is not None:
            with contextlib.suppress(VideoError):
                writer.close()
        path.unlink(missing_ok=True)
        raise
    return count
