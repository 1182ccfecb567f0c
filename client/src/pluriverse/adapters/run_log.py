"""Runs in lockstep as files: what they were made of, and a fingerprint of each frame, by which they are verified.

A file is gzip's, of JSON, an object or a list a line. The first line says how the run was made (``RunHeader``). An
object begins an episode: ``env`` is its environment's number, ``seed`` its seed, ``frame`` the fingerprint of the first
frame; ``again`` are the events of the steps before it, where the run went back to a snapshot. A list is a step: the
number, the events, the reward, the frame's fingerprint; then, if the episode is over, how, and if it changed, ``said``:
a fingerprint of text, observation and info.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from pluriverse_protocol import bounded
from pluriverse_protocol.events import Event, from_wire, to_wire
from pluriverse_protocol.strict_json import parse

from pluriverse import forks
from pluriverse.errors import ConfigurationError, printable
from pluriverse.rewarder.result import Result

from .snapshots import fingerprint

VERSION: Final = 1

# Unpacked, as it is read: a day of one environment at 15 steps a second. All of it is in memory while it is verified.
MAX_BYTES: Final = 64 * 1024 * 1024
MAX_STEPS: Final = 1_500_000

# What may be missing of a run whose process was killed.
FLUSH_STEPS: Final = 1000


@dataclass(frozen=True, slots=True)
class RunHeader:
    env_id: str
    runtime_version: str | None
    frame_skip: int
    fps: float
    options: dict[str, Any]
    """The environment's own."""
    crop: Sequence[int] | None = None
    size: Sequence[int] | None = None
    grey: bool = False
    run: int = VERSION

    def __post_init__(self) -> None:
        if self.run != VERSION:
            raise ValueError(f"its version is {self.run}, expected {VERSION}")


@dataclass(frozen=True, slots=True)
class Answer:
    """What is compared of an answer: fingerprints, the reward, and how the episode ended."""

    frame: str
    said: str
    reward: float = 0.0
    end: str = ""


@dataclass(slots=True)
class RunEpisode:
    """One episode of a run: the events of its steps, and the answers to them, one more from the start."""

    seed: int
    again: list[tuple[Event, ...]]
    first: Answer
    steps: list[tuple[tuple[Event, ...], Answer]] = field(default_factory=list[tuple[tuple[Event, ...], Answer]])


def answer_of(result: Result) -> Answer:
    said = json.dumps([result.text, result.observation, result.reported_info()], sort_keys=True).encode()
    # An end by the agent's own limit of steps isn't the environment's.
    end = "" if not result.done else "terminated" if result.terminated else "truncated"
    return Answer(
        fingerprint(result.picture).hex(), hashlib.blake2b(said, digest_size=4).hexdigest(), result.reward, end
    )


class RunLog:
    def __init__(self, path: str | os.PathLike[str], header: RunHeader) -> None:
        try:
            self._file = forks.keep(gzip.GzipFile(path, "xb"))
        except OSError as error:
            raise ConfigurationError(f"the run can't be recorded: {error}") from error
        self._said: dict[int, str] = {}
        self._steps = 0
        self._write(asdict(header))

    def begin(self, index: int, seed: int, again: Iterable[Sequence[Event]], result: Result) -> None:
        """Note an episode's first frame, or that of a snapshot after the steps ``again``."""
        answer = answer_of(result)
        self._said[index] = answer.said
        line: dict[str, Any] = {"env": index, "seed": seed, "frame": answer.frame, "said": answer.said}
        before = [_wire(events) for events in again]
        self._write(line | {"again": before} if before else line)
        self._file.flush()

    def step(self, index: int, events: Sequence[Event], result: Result) -> None:
        answer = answer_of(result)
        reward = int(answer.reward) if answer.reward.is_integer() else answer.reward
        line: list[Any] = [index, _wire(events), reward, answer.frame]
        changed = answer.said != self._said[index]
        if answer.end or changed:
            line.append(answer.end)
        if changed:
            self._said[index] = answer.said
            line.append(answer.said)
        self._write(line)
        self._steps += 1
        if self._steps % FLUSH_STEPS == 0:
            self._file.flush()

    def close(self) -> None:
        """End the file; may be called repeatedly."""
        self._file.close()

    def _write(self, line: Any) -> None:
        self._file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")


def read_run(path: Path) -> tuple[RunHeader, list[RunEpisode]]:
    """Return a run; of one that broke off what was written."""
    try:
        lines = _lines(path)
        return _header(next(lines, None)), _episodes(lines)
    except (OSError, ValueError, TypeError, LookupError) as error:
        why = printable(str(error))
        raise ConfigurationError(f"{path} isn't a recorded run: {why}; record= of an environment writes one") from error


def _header(line: Any) -> RunHeader:
    if not isinstance(line, dict):
        raise ValueError("its first line isn't a header")
    return RunHeader(**cast("dict[str, Any]", line))


def _episodes(lines: Iterator[Any]) -> list[RunEpisode]:
    episodes: list[RunEpisode] = []
    present: dict[int, RunEpisode] = {}
    said: dict[int, str] = {}
    for number, line in enumerate(lines):
        if number > MAX_STEPS:
            raise ValueError(f"it has over {MAX_STEPS} steps")
        if isinstance(line, dict):
            begun = cast("dict[str, Any]", line)
            index = begun["env"]
            again = [_events(events) for events in begun.get("again", ())]
            said[index] = begun["said"]
            present[index] = RunEpisode(begun["seed"], again, Answer(begun["frame"], begun["said"]))
            episodes.append(present[index])
        else:
            index, events, reward, frame, *more = line
            end = more[0] if more else ""
            said[index] = more[1] if len(more) > 1 else said[index]
            present[index].steps.append((_events(events), Answer(frame, said[index], float(reward), end)))
    return episodes


def _lines(path: Path) -> Iterator[Any]:
    with gzip.open(path, "rb") as file, contextlib.suppress(EOFError, zlib.error):
        for line in bounded.lines(file, MAX_BYTES):
            if line.endswith(b"\n"):
                yield parse(line)


def _wire(events: Sequence[Event]) -> list[Any]:
    return [to_wire(event) for event in events]


def _events(values: Iterable[Any]) -> tuple[Event, ...]:
    return tuple(from_wire(value) for value in values)
