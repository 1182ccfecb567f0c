"""Suites: TOML files of tasks, each an environment with a budget of time and a scale for its score."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Final

from pluriverse.catalogue import environments
from pluriverse.errors import ConfigurationError
from pluriverse_protocol import bounded
from pluriverse_protocol.limits import MAX_ENV_ID_CHARS, MAX_SEED
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

MAX_TASKS: Final = 1000
MAX_SEEDS: Final = 1000
MAX_SECONDS: Final = 24 * 3600.0

# Of environments that are tasks: how many seeds, and what is earned, the share of the task that was done.
TASK_SEEDS: Final = 10
_SHARES: Final = {"random": 0.0, "reference": 1.0, "success": 1.0}

Seed = Annotated[int, Field(ge=0, le=MAX_SEED)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,59}$")]


class Task(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name
    env: str = Field(max_length=MAX_ENV_ID_CHARS)
    script: str | None = Field(default=None, max_length=200, description="MODULE:NAME beside the suite, which plays it")
    asks: str = Field(max_length=2000, description="what it asks of an agent, in a line")
    seconds: float = Field(gt=0, le=MAX_SECONDS, description="the budget: game time after which an episode is cut")
    random: float = Field(description="what a random agent earns in an episode: the score 0")
    reference: float = Field(description="what a good agent earns: the score 100, the highest")
    success: float = Field(description="an episode that earns so much has succeeded")
    paused: bool = Field(default=True, description="whether it can be played in lockstep, too")

    @model_validator(mode="after")
    def _scales(self) -> Task:
        if self.random == self.reference:
            raise ValueError("random and reference are equal; scores can't be computed")
        return self

    def score(self, earned: float) -> float:
        """Return what an episode that earned so much scores: 0 as a random agent, 100 as the reference or better."""
        return min(100.0, 100 * (earned - self.random) / (self.reference - self.random))


class Suite(BaseModel):
    """Tasks that are played with the same seeds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name
    version: int = Field(ge=1)
    about: str = Field(default="", max_length=2000)
    seeds: list[Seed] = Field(min_length=1, max_length=MAX_SEEDS)
    tasks: list[Task] = Field(min_length=1, max_length=MAX_TASKS)
    digest: str = Field(default="", description="of the file")
    folder: Path = Field(default=Path(), description="where the file is, and the modules of its scripts")

    @model_validator(mode="after")
    def _differ(self) -> Suite:
        for what, values in (("tasks", [task.name for task in self.tasks]), ("seeds", list(map(str, self.seeds)))):
            twice = {value for value in values if values.count(value) > 1}
            if twice:
                raise ValueError(f"{what}: {min(twice)} is listed twice")
        return self

    def only(self, patterns: Sequence[str], seeds: int | None) -> Suite:
        """Return a suite of the tasks whose names match one of some patterns (none: all), with the first seeds."""
        tasks = [task for task in self.tasks if not patterns or any(fnmatchcase(task.name, each) for each in patterns)]
        if not tasks:
            known = ", ".join(task.name for task in self.tasks)
            raise ConfigurationError(f"no task of {self.name} matches {', '.join(patterns)}; there are: {known}")
        if seeds is not None and not 1 <= seeds <= len(self.seeds):
            raise ConfigurationError(f"--seeds {seeds}: the suite {self.name} has {len(self.seeds)}")
        return self.model_copy(update={"tasks": tasks, "seeds": self.seeds[:seeds]})


def scripted(suite: Suite) -> Suite:
    """Return a suite of the tasks that have a script, whose modules can be imported from now on."""
    tasks = [task.name for task in suite.tasks if task.script is not None]
    if not tasks:
        raise ConfigurationError(f"no task of {suite.name} has a script")
    if str(suite.folder) not in sys.path:
        sys.path.insert(0, str(suite.folder))
    return suite.only(tasks, None)


def read_suite(where: str, split: str | None = None) -> Suite:
    """Read a file, or one that is shipped; or make a suite of the environments of a pattern that are tasks.

    ``split``: of those that are of it.
    """
    path = Path(where)
    if path.suffix != ".toml" and "." in where and not path.exists():
        return _of_tasks(where, split)
    if split is not None:
        raise ConfigurationError(f"--split {split}: the tasks of {where} have no splits; name some by id, as 'tasks.*'")
    if path.suffix != ".toml" and not path.exists():
        shipped = files("pluriverse_eval") / "suites"
        names = sorted(each.name.removesuffix(".toml") for each in shipped.iterdir() if each.name.endswith(".toml"))
        if where not in names:
            known = ", ".join(names)
            raise ConfigurationError(f"unknown suite {where!r}; give a .toml file, or one of {known}")
        path = Path(str(shipped / f"{where}.toml"))
    try:
        with path.open("rb") as file:
            data = bounded.read(file)
        given = bounded.parse_toml(data)
    except OSError as error:
        raise ConfigurationError(f"{where} can't be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigurationError(f"{where} isn't TOML: {error}") from error
    return _valid(where, {**given, "folder": path.resolve().parent}, data)


def _of_tasks(pattern: str, split: str | None) -> Suite:
    entries = [entry for entry in environments(pattern.partition(".")[0]) if fnmatchcase(str(entry["id"]), pattern)]
    tasks = [
        {
            "name": re.sub("(?<=[a-z0-9])(?=[A-Z])", "-", entry["id"].partition(".")[2].removesuffix("-v0")).lower(),
            "env": entry["id"],
            "asks": entry["words"],
            "seconds": entry["time_limit_s"],
            "paused": "lockstep" in entry["clocks"],
            **_SHARES,
        }
        for entry in entries
        if "words" in entry and split in (None, entry["split"])
    ]
    if not tasks:
        kind = "a task" if split is None else f"a task of the split {split}"
        raise ConfigurationError(f"no environment that matches {pattern} is {kind}; see: pluriverse envs")
    name = re.sub("[^a-z0-9]+", "-", f"{pattern} {split or ''}".lower()).strip("-")
    given = {"name": name, "version": 1, "seeds": list(range(TASK_SEEDS)), "tasks": tasks}
    return _valid(pattern, given, json.dumps(given, sort_keys=True).encode())


def _valid(where: str, given: dict[str, Any], data: bytes) -> Suite:
    try:
        return Suite.model_validate({**given, "digest": hashlib.sha256(data).hexdigest()[:16]})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the suite"
        raise ConfigurationError(f"{where}: {place}: {first['msg']}") from error
