"""What came of a run: one line of JSON for each episode, in a folder that a run can go on with."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from filelock import FileLock, Timeout
from pluriverse.errors import ConfigurationError
from pluriverse_protocol import bounded
from pydantic import BaseModel, ConfigDict, ValidationError

RUN: Final = "run.json"
RESULTS: Final = "results.jsonl"
RECORDINGS: Final = "recordings"
LOCK: Final = "lock"

# Of results: a line of 1 kB for each of the episodes of the largest suite, in three modes and many times.
MAX_BYTES: Final = 64 * 1024 * 1024

Bounds = tuple[float, float]

Ended = Literal["running", "terminated", "truncated", "budget", "failed"]

# How an episode ended, for people.
ENDS: Final[Mapping[Ended, str]] = {
    "running": "still running",
    "terminated": "over",
    "truncated": "ended by a limit of the environment",
    "budget": "stopped at the end of the task's time",
    "failed": "aborted because the agent failed",
}


class Run(BaseModel):
    """What was asked for: one agent, on one suite."""

    model_config = ConfigDict(extra="forbid")

    agent: str
    suite: str
    suite_version: int
    digest: str
    """Of the suite's file."""
    modes: list[str]
    seeds: list[int]
    tasks: list[str]
    scales: dict[str, Bounds] = {}
    """What a random agent earns in a task, the score 0, and the reference, the score 100."""
    began: float
    """UNIX seconds."""
    versions: dict[str, str]

    def same(self, other: Run) -> bool:
        return (self.agent, self.suite, self.digest) == (other.agent, other.suite, other.digest)

    def joined(self, before: Run) -> Run:
        """Return a run of what was asked for now and before."""
        both = {
            name: [*getattr(before, name), *(each for each in getattr(self, name) if each not in getattr(before, name))]
            for name in ("modes", "seeds", "tasks")
        }
        return self.model_copy(update={**both, "scales": {**before.scales, **self.scales}, "began": before.began})


class Episode(BaseModel):
    """One episode of a task. Times are seconds, reactions and lags milliseconds."""

    model_config = ConfigDict(extra="forbid")

    task: str
    mode: str
    seed: int
    score: float
    """0 as a random agent, 100 as the reference or better."""
    earned: float
    success: bool
    ended: Ended
    error: str | None = None
    """Why the agent failed, if it did."""
    game_s: float
    acts: int
    """How often the agent acted after it had seen something."""
    reaction_ms: Bounds | None = None
    """Median and 95th percentile of the game time between what was seen and the act that followed; None: no act."""
    lags_ms: dict[str, Bounds] = {}
    """Bounds of the lags of observation, action and reward, at the end; in lockstep there are none."""
    recording: str | None = None
    runtime: str = ""

    @property
    def key(self) -> tuple[str, str, int]:
        """What it is the episode of: task, mode and seed."""
        return self.task, self.mode, self.seed


class Folder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.recordings = path / RECORDINGS
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def alone(self) -> Generator[None]:
        """Keep other runs out of the folder meanwhile."""
        try:
            lock = FileLock(self.path / LOCK).acquire(blocking=False)
        except Timeout as error:
            raise ConfigurationError(
                f"another run is using {self.path}; wait until it ends, or choose another folder with --out"
            ) from error
        except OSError as error:
            raise _unwritable(self.path, error) from error
        with lock:
            yield

    def begin(self, run: Run) -> list[Episode]:
        """Make the folder, or go on with it; return what is there already."""
        try:
            self.recordings.mkdir(parents=True, exist_ok=True)
            there = self.path / RUN
            if there.exists():
                before, episodes = self.read()
                if not run.same(before):
                    raise ConfigurationError(
                        f"{self.path} has results of {before.agent} on {before.suite} ({before.digest}); "
                        "choose another folder with --out"
                    )
                run = run.joined(before)
            else:
                episodes = []
            _write_whole(there, run.model_dump_json(indent=1) + "\n")
            with (self.path / RESULTS).open("ab+") as file:
                file.seek(0)
                # A line that was cut off when a run was killed would spoil the next one.
                if file.read()[-1:] not in (b"", b"\n"):
                    file.write(b"\n")
        except OSError as error:
            raise _unwritable(self.path, error) from error
        return episodes

    def add(self, episode: Episode) -> None:
        """Add the result of an episode; any thread may."""
        try:
            with self._lock, (self.path / RESULTS).open("a", encoding="utf-8") as file:
                file.write(episode.model_dump_json() + "\n")
        except OSError as error:
            raise ConfigurationError(
                f"{self.path / RESULTS} can't be written: {error.strerror}; the same command resumes the run"
            ) from error

    def sort(self) -> None:
        """Order the results by task, mode and seed, so that a run that is played again has the same file."""
        _, episodes = self.read()
        lines = [episode.model_dump_json() + "\n" for episode in sorted(episodes, key=lambda episode: episode.key)]
        _write_whole(self.path / RESULTS, "".join(lines))

    def read(self) -> tuple[Run, list[Episode]]:
        """Read a run; of several results of the same episode the last counts."""
        try:
            with (self.path / RUN).open("rb") as file:
                run = Run.model_validate_json(bounded.read(file))
            with (self.path / RESULTS).open("rb") as file:
                lines = bounded.read(file, MAX_BYTES).splitlines()
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                f"{self.path} has no results of pluriverse eval: {str(error).splitlines()[0]}"
            ) from error
        return run, list(_read(lines))


def _read(lines: Sequence[bytes]) -> Iterable[Episode]:
    found: dict[tuple[str, str, int], Episode] = {}
    for line in lines:
        try:
            episode = Episode.model_validate_json(line)
        except ValidationError:
            # It was cut off; its episode is played again.
            continue
        found[episode.key] = episode
    return found.values()


def _write_whole(path: Path, text: str) -> None:
    """Write a file, or leave it as it was, also on a full disk."""
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def _unwritable(folder: Path, error: OSError) -> ConfigurationError:
    return ConfigurationError(f"{error.filename or folder} can't be written: {error.strerror}")
