"""Scores a runtime's sources: reads its recordings again and compares with their labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from pluriverse_protocol.recordings import MalformedRecording, TruncatedRecording
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from pluriverse_server.authoring import AuthoringError
from pluriverse_server.manifest.runtime import Manifest, load
from pluriverse_server.recording.file import SUFFIX
from pluriverse_server.recording.replay import Replay
from pluriverse_server.sources.reading import SourceError

from .judge import ReadingComparison, Result, judge
from .labels import Labels, labels_path, read_labels
from .report import print_results, write_report
from .rescrape import Rescraper

FOLDER: Final = "recordings"

# How often progress is shown, in seconds of the recording.
PROGRESS_S: Final = 1.0


def score(
    directory: Path, recordings: Sequence[Path] = (), *, console: Console | None = None, write: bool = True
) -> int:
    """Score recordings, by default all of the runtime's; return the exit status: 0 if all are perfect.

    Prints on ``console``. With ``write``, writes NAME.report.json beside each, and pictures of the differences to
    NAME.disagreements.

    Raises:
        ManifestError: the runtime can't be used.
        AuthoringError: a recording or its labels can't be used, or a report can't be written.
    """
    console = console or Console()
    manifest = load(directory)
    paths = list(recordings) or sorted((directory / FOLDER).glob(f"*{SUFFIX}"))
    if not paths:
        raise AuthoringError(
            f"there are no recordings in {directory / FOLDER}; make one with: pluriverse-server record {directory}"
        )
    results: dict[Path, Result] = {}
    columns = (TextColumn("{task.description}"), TextColumn("{task.completed:.0f} s"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        for path in paths:
            labels = read_labels(labels_path(path))
            task = progress.add_task(path.name, total=None)
            update = partial(progress.update, task)
            result = results[path] = score_recording(
                directory, manifest, path, labels, lambda seconds, update=update: update(completed=seconds)
            )
            if write:
                _write(path, result, manifest)
            progress.remove_task(task)
    print_results(results, console, written=write)
    return 0 if all(result.perfect for result in results.values()) else 1


def score_recording(
    directory: Path,
    manifest: Manifest,
    path: Path,
    labels: Labels,
    on_progress: Callable[[float], None] = lambda seconds: None,
) -> Result:
    """Read a recording again and compare it with its labels; ``on_progress`` gets the seconds read so far.

    A recording without its end, as of a recorder that was killed, is read up to there.

    Raises:
        AuthoringError: the recording can't be read, or is another runtime's.
    """
    try:
        replay = Replay(path)
        if replay.header.runtime != manifest.runtime.id:
            raise AuthoringError(f"{path} is a recording of {replay.header.runtime}, and this is {manifest.runtime.id}")
        rescraper = Rescraper(directory, manifest, replay)
        readings = ReadingComparison(labels)
        seconds = shown = 0.0
        for cycle in rescraper.cycles():
            seconds = cycle.at
            if seconds - shown >= PROGRESS_S:
                shown = seconds
                on_progress(seconds)
            readings.see(cycle.at, cycle.readings if cycle.episode is not None else {})
    except FileNotFoundError:
        raise AuthoringError(f"{path}: no such file; expected a recording, NAME{SUFFIX}") from None
    except (OSError, MalformedRecording, SourceError) as error:
        raise AuthoringError(f"{path} can't be scored: {error}") from error
    if replay.ended is not None and not isinstance(replay.ended, TruncatedRecording):
        raise AuthoringError(f"{path} can't be scored: {replay.ended}")
    header = replay.header
    game = manifest.game(header.env_id)
    return judge(game, header.env_id, header.fps, seconds, labels, rescraper.episodes, readings)


def _write(path: Path, result: Result, manifest: Manifest) -> None:
    try:
        write_report(path, result, manifest)
    except OSError as error:
        raise AuthoringError(
            f"{error.filename or path}: the report can't be written: {error.strerror or error}; --no-write scores "
            "without one"
        ) from error
