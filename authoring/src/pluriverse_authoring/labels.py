"""The truth about a recording: NAME.labels.json, written with ``label`` and compared by ``score``.

Times are seconds since the recording began. A source's truth is a step function: each value until the next.
"""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Final, Literal

from pluriverse_protocol.recording_file import SUFFIX
from pluriverse_protocol.recordings import Header
from pluriverse_server.manifest.game import GameTables, SourceName
from pluriverse_server.manifest.runtime import ManifestError, describe, load
from pluriverse_server.manifest.sources import MAX_SOURCES
from pluriverse_server.manifest.table import Table
from pydantic import Field, ValidationError, field_validator, model_validator

from pluriverse_authoring import AuthoringError

# Where a runtime's recordings are, and their labels beside them.
FOLDER: Final = "recordings"
LABELS_SUFFIX: Final = ".labels.json"

# A person labels some hundreds.
MAX_LABELS: Final = 100_000
MAX_EPISODES: Final = 10_000
MAX_LABELS_BYTES: Final = 16 * 1024 * 1024

Time = Annotated[float, Field(ge=0, le=86_400)]
Text = Annotated[str, Field(max_length=1000)]
LabelledValue = tuple[Time, bool | float | Text | None]
LabelledValues = Annotated[list[LabelledValue], Field(max_length=MAX_LABELS)]


class LabelledEpisode(Table):
    """``end`` None: the recording ended first; ``done`` None: the episode ended otherwise."""

    begin: Time
    end: Time | None = None
    done: Literal["terminated", "truncated"] | None = None
    reason: Text = ""

    @model_validator(mode="after")
    def _ends_after_its_beginning(self) -> LabelledEpisode:
        if self.end is not None and self.end < self.begin:
            raise ValueError("expected an end that is no earlier than the beginning")
        if self.end is None and self.done is not None:
            raise ValueError("expected an end with done")
        return self


class Labels(Table):
    """The labels of one recording. ``rewards``: when each was first visible, and its amount.

    ``proposed`` are the times, by source, "episodes" and "rewards", of the labels that a person accepted as they were
    read or computed, and didn't enter.
    """

    recording: Annotated[str, Field(min_length=1, max_length=255)]
    episodes: Annotated[list[LabelledEpisode], Field(max_length=MAX_EPISODES)] = []
    sources: Annotated[dict[SourceName, LabelledValues], Field(max_length=MAX_SOURCES)] = {}
    rewards: Annotated[list[tuple[Time, float]], Field(max_length=MAX_LABELS)] = []
    proposed: Annotated[
        dict[SourceName, Annotated[list[Time], Field(max_length=MAX_LABELS)]], Field(max_length=MAX_SOURCES + 2)
    ] = {}

    @property
    def entered_and_accepted(self) -> tuple[int, int]:
        """How many labels a person entered, and how many were accepted as read."""
        times = {name: [at for at, _ in steps] for name, steps in self.sources.items()}
        times["rewards"] = [*times.get("rewards", []), *(at for at, _ in self.rewards)]
        marks = [at for one in self.episodes for at in (one.begin, one.end) if at is not None]
        times["episodes"] = [*times.get("episodes", []), *marks]
        taken = {name: set(each) for name, each in self.proposed.items()}
        accepted = sum(at in taken.get(name, ()) for name, each in times.items() for at in each)
        return sum(map(len, times.values())) - accepted, accepted

    @field_validator("episodes")
    @classmethod
    def _one_after_the_other(cls, episodes: list[LabelledEpisode]) -> list[LabelledEpisode]:
        for before, after in pairwise(episodes):
            if before.end is None or after.begin < before.end:
                raise ValueError("expected each episode to end before the next begins")
        return episodes

    @field_validator("sources")
    @classmethod
    def _in_order(cls, sources: dict[str, LabelledValues]) -> dict[str, LabelledValues]:
        for name, steps in sources.items():
            if any(later[0] <= earlier[0] for earlier, later in pairwise(steps)):
                raise ValueError(f"expected the values of {name} in the order of their times, each time once")
        return sources

    @field_validator("rewards")
    @classmethod
    def _sorted(cls, rewards: list[tuple[float, float]]) -> list[tuple[float, float]]:
        if any(later[0] < earlier[0] for earlier, later in pairwise(rewards)):
            raise ValueError("expected the rewards in the order of their times")
        return rewards


def labels_path(recording: Path) -> Path:
    return beside(recording, LABELS_SUFFIX)


def beside(recording: Path, suffix: str) -> Path:
    return recording.with_name(recording.name.removesuffix(SUFFIX) + suffix)


def read_labels(path: Path) -> Labels:
    """Read a file of labels; raise AuthoringError, with a line for each problem, if it can't be used."""
    if not path.exists():
        raise AuthoringError(f"{path}: no such file; make it with: pluriverse-server label")
    try:
        if path.stat().st_size > MAX_LABELS_BYTES:
            raise AuthoringError(f"{path}: over {MAX_LABELS_BYTES} bytes")
        return Labels.model_validate_json(path.read_bytes())
    except OSError as error:
        raise AuthoringError(f"{path}: can't be read: {error.strerror}") from error
    except ValidationError as error:
        raise AuthoringError(describe(path, error)) from None


def write_table(path: Path, table: Table) -> None:
    """Replace a file of JSON atomically; if that raises OSError, the old one is untouched."""
    new = path.with_name(path.name + ".new")
    with new.open("w", encoding="utf-8") as file:
        file.write(table.model_dump_json(indent=1) + "\n")
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def game_of(recording: Path, header: Header) -> GameTables:
    directory = recording.resolve().parent.parent
    manifest = load(directory)
    if manifest.runtime.id != header.runtime:
        raise ManifestError(f"{recording} is a recording of {header.runtime}, and {directory} is {manifest.runtime.id}")
    return manifest.game(header.env_id)
