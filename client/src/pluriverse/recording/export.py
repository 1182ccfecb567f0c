"""What ``pluriverse export`` does: recordings in, a dataset or films out, with a line for each."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Final, cast, get_args

from pluriverse.adapters.actions import Kind
from pluriverse.adapters.pictures import PictureOptions
from pluriverse.errors import ConfigurationError

from .dataset import write_dataset
from .demonstrations import Demonstration, demonstrations
from .film import Film
from .movie import write_movie

# Lists of events have no space of a fixed size.
KINDS: Final = tuple(kind for kind in get_args(Kind) if kind != "events")


class Export:
    """Some recordings, and how pictures and actions are to be. ``report`` is told what has been done, in words."""

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        fps: float | None,
        size: tuple[int, int] | None,
        kind: str | None,
        report: Callable[[str], None],
    ) -> None:
        """``fps`` steps a second, ``size`` (height, width), ``kind`` of actions; None: as the recording has it.

        Raises:
            ConfigurationError: there are no such actions, a size is out of range, or one of ``paths`` is no recording.
        """
        if kind is not None and kind not in KINDS:
            raise ConfigurationError(f"--actions {kind}: expected one of {', '.join(KINDS)}")
        self._paths = paths
        self._fps = fps
        self._options = PictureOptions(size=size)
        self._kind: Kind | None = cast("Kind | None", kind)
        self._report = report
        # Whatever can't be read is told before anything is written.
        for path in paths:
            Film(path)

    def to_minari(self, dataset_id: str) -> None:
        """Make a dataset of all episodes.

        Raises:
            ConfigurationError: see ``dataset.write_dataset`` and ``demonstrations.demonstrations``.
        """
        count = write_dataset(dataset_id, self._episodes())
        self._report(f"{dataset_id}: {count} episodes; load them with minari.load_dataset({dataset_id!r})")

    def to_video(self, path: Path) -> None:
        """Make a film of each recording; of several, each has its recording's name behind that of ``path``.

        Where two recordings have the same name, it is their numbers.

        Raises:
            ConfigurationError: a recording can't be read.
            pluriverse.wrappers.video.VideoError: a film can't be written.
        """
        stem = path.with_suffix("") if path.suffix in (".mp4", ".png") else path
        names = [recording.stem for recording in self._paths]
        if len(set(names)) < len(names):
            names = [str(number) for number in range(1, len(names) + 1)]
        for recording, name in zip(self._paths, names, strict=True):
            film = Film(recording)
            place = stem if len(names) == 1 else stem.with_name(f"{stem.name}-{name}")
            written, pictures = write_movie(film, place, fps=self._fps, options=self._options)
            self._report(f"{written}: {pictures} pictures of {recording}")
            self._report_damage(film)

    def _episodes(self) -> Generator[Demonstration]:
        for path in self._paths:
            film = Film(path)
            for episode in demonstrations(film, fps=self._fps, options=self._options, kind=self._kind):
                outcome = episode.reason or ("terminated" if episode.terminated else "truncated")
                steps, reward = len(episode.actions), sum(episode.rewards)
                self._report(f"{path}: {episode.env_id}: {steps} steps, reward {reward:g}: {outcome}")
                yield episode
            self._report_damage(film)

    def _report_damage(self, film: Film) -> None:
        if film.damage is not None:
            self._report(f"{film.path}: what follows can't be read: {film.damage}")
