"""Tasks: what an agent is to do in a program or page, how that is set up, and how it is graded.

A task is a class in a file of a runtime's. Programs and agents know nothing of it but its words.
"""

from __future__ import annotations

import ast
import random
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from pluriverse_protocol.installed import task_splits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pluriverse_protocol.tree import Node

Parameters = dict[str, Any]
"""What differs from seed to seed: JSON."""


_LOADING: Final = threading.RLock()


class TaskError(Exception):
    """A task's file can't be used, or what it does fails; the message has the file and the line."""


class Look:
    """What a check may look at: files, screen, widgets, page. Each is read when it is asked for, and once."""

    def __init__(
        self,
        home: Path,
        picture: Callable[[], NDArray[np.uint8]],
        tree: Callable[[], tuple[Node, ...]],
        page: Callable[[str], Any],
    ) -> None:
        self.home: Path = home
        """The program's HOME, or the folder of what a page's server keeps."""
        self.answers: dict[str, Any] = {}
        """What the page has answered, by expression."""
        self._page = page
        self._picture = picture
        self._tree = tree

    def page(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page, JSON."""
        answer = self.answers[expression] = self._page(expression)
        return answer

    @cached_property
    def picture(self) -> NDArray[np.uint8]:
        """The screen: RGB, uint8 of shape (height, width, 3)."""
        return self._picture()

    @cached_property
    def tree(self) -> tuple[Node, ...]:
        """What is shown, by AT-SPI or of the page."""
        return self._tree()


class Task:
    """A task. Its seeds differ by the parameters that ``setup`` returns; an instance keeps nothing.

    ``words`` is what the agent is told, with parameters in braces. ``grade``: ``submit`` as the agent says that it is
    done, and else nothing; ``change`` each time that the check's share changes, until it is 1; ``end`` when the episode
    ends, however it does. A method ``trap_…(p, home)`` makes an end that looks right and isn't, from what ``setup``
    made; with ``computer`` for ``home`` it acts.
    """

    words: str = ""
    seconds: float = 120.0
    grade: Literal["submit", "change", "end"] = "submit"
    split: Literal["train", "test"] = "train"
    difficulty: int = 1

    def setup(self, rng: random.Random, home: Path) -> Parameters:
        """Fill ``home``, and return the parameters; randomness comes from ``rng`` alone."""
        return {}

    def check(self, p: Parameters, look: Look) -> float:
        """Return how much of it is done, 0 to 1."""
        raise NotImplementedError

    def oracle(self, p: Parameters, computer: Any) -> None:
        """Solve it by the keys and the pointer of a ``pluriverse`` ``Computer``. It is submitted afterwards."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request of a page's, which ``respond(request, home)`` of its runtime answers."""

    method: str
    path: str
    query: Mapping[str, str]
    form: Mapping[str, str]
    cookies: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class PageResponse:
    """The answer to a request. A text alone is one of HTML, and None that there is nothing."""

    body: str | bytes = ""
    status: int = 200
    type: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def chance(env_id: str, seed: int) -> random.Random:
    """Return what a task of a seed is drawn from."""
    return random.Random(f"{env_id} {seed}")  # noqa: S311 - it is to be the same each time


def load_functions(path: Path) -> Mapping[str, Any]:
    """Run a file of a runtime's, and return what it names; beside it lies what it may import. Raise TaskError."""
    # Pages' servers and tasks load in threads, of which two that import would take each other's modules away.
    with _LOADING:
        return _load_functions(path)


# Each is executed once in a process.
@lru_cache(maxsize=1024)
def _load_functions(path: Path) -> Mapping[str, Any]:
    try:
        code = compile(ast.parse(path.read_bytes(), str(path)), str(path), "exec")
    except OSError as error:
        raise TaskError(f"{path} can't be read: {error.strerror}") from None
    except (SyntaxError, ValueError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise TaskError(f"{path}{line}: not Python: {error}") from None
    namespace: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    sys.path.insert(0, str(path.parent))
    try:
        exec(code, namespace)  # noqa: S102 - it is the runtime's own, as its program is
    except (Exception, SystemExit) as error:
        raise TaskError(described(path, error)) from error
    finally:
        sys.path.remove(str(path.parent))
        # Another folder may have others by the same names.
        for name, module in [*sys.modules.items()]:
            if Path(getattr(module, "__file__", None) or "").parent == path.parent:
                del sys.modules[name]
    return namespace


@lru_cache(maxsize=1024)
def load_tasks(path: Path) -> Mapping[str, Task]:
    """Return an instance of each task of a file by its class's name; raise TaskError."""
    named = load_functions(path)
    try:
        splits = task_splits(path.read_text(encoding="utf-8"))
        tasks = {name: named[name]() for name in splits}
    except (Exception, SystemExit) as error:
        raise TaskError(described(path, error)) from error
    if not tasks:
        raise TaskError(f"{path}: no tasks; expected classes of pluriverse_server.kit.Task")
    for name, task in tasks.items():
        if not isinstance(task, Task) or not task.words or task.grade not in _GRADES or not task.seconds > 0:
            raise TaskError(f"{path}: {name}: expected a Task with words, seconds, and grade one of {_GRADES}")
        if task.split != splits[name]:
            raise TaskError(f'{path}: {name}: expected split = "test" in the class itself, or nothing of it')
    return tasks


_GRADES: Final = ("submit", "change", "end")


def described(path: Path, error: BaseException) -> str:
    """Return where in a file something went wrong, and what."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    place = f"{path}, line {lines[-1]}" if lines else str(path)
    return f"{place}: {type(error).__name__}: {error}"
