"""A task that is set up for an episode, and the source that is its check."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.reports import EVIDENCE
from pluriverse_protocol.tree import Node

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.sources import MAX_COORDINATE, TaskSource
from pluriverse_server.sources.evidence import packed
from pluriverse_server.sources.program.reader import ProgramReader, Target
from pluriverse_server.sources.program.tree import read_tree
from pluriverse_server.sources.reading import Pixels, SourceError
from pluriverse_server.sources.screen.grab import Grabber
from pluriverse_server.sources.trees import trim
from pluriverse_server.task import Look, TaskError, chance, described, load_tasks

# UNIX seconds: 1 January 2020.
_CHANGED_AT: Final = 1_577_836_800


class Assignment:
    """A task in a HOME, with its parameters."""

    def __init__(self, table: TaskSource, directory: Path, env_id: str, home: Path) -> None:
        """``directory`` is the runtime's; raise TaskError if the task's file can't be used."""
        self.due: Callable[[], bool] = lambda: True
        """Whether it is to be checked now."""
        self.looked: Look | None = None
        """What the last check looked at."""
        self._directory = directory
        self._home = home
        self.become(table, env_id)

    def become(self, table: TaskSource, env_id: str) -> None:
        """Be a task of an environment that isn't set up yet; raise TaskError if its file can't be used."""
        self.path: Path = self._directory / table.file
        self.task = load_tasks(self.path)[table.name]
        self.parameters: Mapping[str, Any] = {}
        self._env_id = env_id

    def keep(self) -> object:
        """Return which it is, and how it is set up; for ``go_back``."""
        return self.path, self.task, self.parameters, self._env_id

    def go_back(self, kept: Any) -> None:
        self.path, self.task, self.parameters, self._env_id = kept

    def set_up(self, seed: int) -> None:
        """Fill the HOME for a seed; raise TaskError with the file's line if that fails. Blocking."""
        try:
            parameters = self.task.setup(chance(self._env_id, seed), self._home)
            self.parameters = json.loads(json.dumps(parameters))
            _ = self.words
            # Programs show when files were changed.
            for path in self._home.rglob("*"):
                os.utime(path, (_CHANGED_AT, _CHANGED_AT), follow_symlinks=False)
        except (Exception, SystemExit) as error:
            raise TaskError(described(self.path, error)) from error

    @property
    def words(self) -> str:
        """What the agent is told."""
        return self.task.words.format_map(self.parameters)

    def evidence(self) -> dict[str, str]:
        """Return what the check has looked at in this episode, which has ended, as ``info`` has it."""
        look, self.looked = self.looked, None
        try:
            return {} if look is None else {EVIDENCE: packed(self.parameters, look)}
        except OSError:
            return {EVIDENCE: ""}

    def check(self, look: Look) -> float:
        """Return how much of it is done, 0 to 1; raise SourceError with the file's line if that fails.

        Nothing is done where a file that it reads isn't there, or isn't text.
        """
        self.looked = look
        try:
            share: Any = self.task.check(dict(self.parameters), look)
            if isinstance(share, (int, float)) and 0 <= share <= 1:
                return float(share)
        except (OSError, UnicodeDecodeError):
            return 0.0
        except (Exception, SystemExit) as error:
            raise SourceError(described(self.path, error)) from error
        raise SourceError(f"{self.path}: check returned {share!r:.80}; expected how much is done, 0 to 1")


class TaskReader(ProgramReader):
    """Checks a program's task, while that is due."""

    def __init__(self, assignment: Assignment, target: Target, display: str, screen_memory: Pixels | None) -> None:
        """``screen_memory``: where the X server keeps its screen; None: it is grabbed as it is asked for."""
        self._assignment = assignment
        self._target = target
        self._display = display
        self._memory = screen_memory

    def look(self) -> Value:
        if not self._assignment.due():
            return None
        return self._assignment.check(Look(self._target.home, self._picture, self._tree, _no_page))

    def _picture(self) -> NDArray[np.uint8]:
        return picture_of(self._display) if self._memory is None else _rgb(self._memory)

    def _tree(self) -> tuple[Node, ...]:
        return trim(read_tree(self._target.environment), (0, 0, MAX_COORDINATE, MAX_COORDINATE)).nodes


def picture_of(display: str) -> NDArray[np.uint8]:
    """Return what is on a screen: RGB, uint8 of shape (height, width, 3). Raise ScreenLost if it is gone."""
    with contextlib.closing(Grabber(display, [])) as screen:
        size = screen.size
    with contextlib.closing(Grabber(display, [(0, 0, *size)])) as screen:
        return _rgb(*screen.grab())


def _rgb(pixels: Pixels) -> NDArray[np.uint8]:
    return np.ascontiguousarray(pixels[..., 2::-1])


def _no_page(expression: str) -> Any:
    raise LookupError(f"there is no page that {expression!r:.40} could be asked of")
