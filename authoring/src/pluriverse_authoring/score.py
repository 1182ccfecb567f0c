"""Scores a runtime's sources: reads its recordings again and compares with their labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from pluriverse_protocol.recording_file import SUFFIX
from pluriverse_protocol.recordings import MalformedRecording, TruncatedRecording
from pluriverse_server.manifest.runtime import Manifest, load
from pluriverse_server.sources.reading import SourceError
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from pluriverse_authoring import AuthoringError
from pluriverse_authoring.recording.replay import Replay

from .judge import Result, judge_samples, never_ended, uncompared
from .labels import FOLDER, Labels, labels_path, read_labels
from .regrade import regrade
from .report import print_results, write_report
from .samples import read_samples


def score(
    directory: Path,
    recordings: Sequence[Path] = (),
    *,
    console: Console | None = None,
    write: bool = True,
) -> int:
    """Score recordings, by default all of the runtime's; return the exit status.

    That is 0 if everything that the rules give was compared, in one recording at least, and nothing differs; recordings
    without labels count as not compared, but those of tasks are graded again, and need none. Prints on ``console``.
    With ``write``, writes NAME.report.json beside each, and pictures of the differences to NAME.disagreements.
    """
    console = console or Console()
    manifest = load(directory)
    paths = list(recordings) or sorted((directory / FOLDER).glob(f"*{SUFFIX}"))
    if not paths:
        raise AuthoringError(
            f"there are no recordings in {directory / FOLDER}; make one with: pluriverse-server record {directory}"
        )
    regraded = {path: said for path in paths if (said := regrade(directory, manifest, path)) is not None}
    for path, said in regraded.items():
        console.print(f"{path.name}: {said or 'graded as it was'}", markup=False, highlight=False)
    paths = [path for path in paths if path not in regraded]
    if not paths:
        return 1 if any(regraded.values()) else 0
    unlabelled = [path for path in paths if path.exists() and not labels_path(path).exists()]
    results: dict[Path, Result] = {}
    columns = (TextColumn("{task.description}"), TextColumn("{task.completed:.0f} s"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        for path in paths:
            if path in unlabelled:
                continue
            labels = read_labels(labels_path(path))
            task = progress.add_task(path.name, total=None)
            update = partial(progress.update, task)
            results[path] = score_recording(
                directory, manifest, path, labels, lambda seconds, update=update: update(completed=seconds)
            )
            if write:
                _write(path, results[path], manifest)
            progress.remove_task(task)
    by_environment = _by_environment(results.values())
    missing = {env_id: uncompared(manifest.game(env_id), manifest.page, of_env) for env_id, of_env in by_environment}
    never = {env_id: never_ended(manifest.game(env_id), manifest.page, of_env) for env_id, of_env in by_environment}
    print_results(results, unlabelled, missing, never, console, written=write)
    perfect = all(result.perfect for result in results.values())
    return 0 if perfect and not unlabelled and not any(missing.values()) and not any(regraded.values()) else 1


def score_recording(
    directory: Path,
    manifest: Manifest,
    path: Path,
    labels: Labels,
    on_progress: Callable[[float], None] = lambda seconds: None,
) -> Result:
    """Read a recording again and compare it with its labels; ``on_progress`` gets the seconds read so far.

    A recording without its end, as of a recorder that was killed, is read up to there.
    """
    try:
        replay = Replay(path)
        if replay.header.runtime != manifest.runtime.id:
            raise AuthoringError(f"{path} is a recording of {replay.header.runtime}, and this is {manifest.runtime.id}")
        samples = read_samples(directory, manifest, replay, on_progress)
        if replay.ended is None or isinstance(replay.ended, TruncatedRecording):
            result = judge_samples(manifest.game, samples, labels)
            version = replay.header.version
            other = version if version != manifest.runtime.version else None
            return replace(result, recorded_with=other)
    except FileNotFoundError:
        raise AuthoringError(f"{path}: no such file; expected a recording, NAME{SUFFIX}") from None
    except (OSError, MalformedRecording, SourceError) as error:
        raise AuthoringError(f"{path} can't be scored: {error}") from error
    raise AuthoringError(f"{path} can't be scored: {replay.ended}")


def _by_environment(results: Iterable[Result]) -> list[tuple[str, list[Result]]]:
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result.environment, []).append(result)
    return list(found.items())


def _write(path: Path, result: Result, manifest: Manifest) -> None:
    try:
        write_report(path, result, manifest)
    except OSError as error:
        raise AuthoringError(
            f"{error.filename or path}: the report can't be written: {error.strerror or error}; --no-write scores "
            "without one"
        ) from error
