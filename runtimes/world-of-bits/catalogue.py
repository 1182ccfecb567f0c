"""Prints every environment as a JSON list."""

from __future__ import annotations

import itertools
import json
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

TASKS: Final = Path(__file__).resolve().parent / "tasks.toml"

# What miniwob gives a task that says nothing else.
DEFAULT_SECONDS: Final = 10

# A task ends by its own clock, which starts a moment before the episode does. The remote ends one that fails to.
GRACE_S: Final = 3


@dataclass(frozen=True, slots=True)
class Task:
    group: str
    name: str
    title: str
    seconds: int = DEFAULT_SECONDS
    typing: bool = False
    anew: bool = False

    @property
    def id(self) -> str:
        """Its name as Universe wrote them, without a version: ``wob.mini.ClickTab2``."""
        words = "".join(word[0].upper() + word[1:] for word in self.name.split("-"))
        return f"wob.{'mini' if self.group == 'miniwob' else self.group}.{words}"

    @property
    def page(self) -> str:
        return f"{self.group}/{self.name}{'.html' if self.group == 'miniwob' else '/wrapper.html'}"

    def environments(self, name: str | None = None, title: str | None = None, **keys: Any) -> Iterator[dict[str, Any]]:
        """Its entries in the catalogue: with rewards that fade with time, and with rewards that don't.

        ``name`` and ``title`` are instead of its own, ``keys`` beside them.
        """
        name, title = name or self.id, title or self.title
        for suffix, decay in (("", True), ("NoDecay", False)):
            yield {
                "id": f"{name}{suffix}-v0",
                "title": title if decay else f"{title}; the reward does not fade",
                "time_limit_s": self.seconds,
                "time_limit_grace_s": GRACE_S,
                "page": self.page,
                "seconds": self.seconds,
                "typing": self.typing,
                "anew": self.anew,
                "decay": decay,
                **keys,
            }


def tasks() -> list[Task]:
    table = tomllib.loads(TASKS.read_text(encoding="utf-8"))
    return [Task(group, name, **keys) for group, pages in table.items() for name, keys in pages.items()]


def entries() -> Iterator[dict[str, Any]]:
    """The whole catalogue: each task, and what Universe had beside them."""
    every = {task.page: task for task in tasks()}
    yield from itertools.chain.from_iterable(task.environments() for task in every.values())
    # Its own page is not among miniwob's; this one is the nearest.
    yield from every["miniwob/drag-items.html"].environments("wob.mini.DragItem", "Drag an item, as DragItems has it")
    mini = [task for task in every.values() if task.group == "miniwob"]
    yield from every["miniwob/click-test.html"].environments(
        "wob.MiniWorldOfBits",
        "Another of the tasks in each episode, at random",
        pages=[task.page for task in mini],
        time_limit_s=max(task.seconds for task in mini),
        typing=True,
    )


if __name__ == "__main__":
    json.dump(list(entries()), sys.stdout)
    sys.stdout.write("\n")
