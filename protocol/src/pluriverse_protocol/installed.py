"""Runtimes that were installed as packages: entry points of the group ``pluriverse.runtimes``; tasks of a file."""

from __future__ import annotations

import ast
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Final

GROUP: Final = "pluriverse.runtimes"


def installed_runtimes() -> dict[str, Path]:
    """Return the folders with the ``runtime.toml`` of installed runtimes by their ids.

    An entry point is named after the runtime's id, and its value is the package whose folder it is; nothing of it is
    imported.
    """
    found: dict[str, Path] = {}
    for point in entry_points(group=GROUP):
        spec = find_spec(point.value)
        for folder in (spec and spec.submodule_search_locations) or ():
            found.setdefault(point.name, Path(folder))
    return found


def task_splits(source: str) -> dict[str, str]:
    """Return the tasks of a Python file by name, each with its split; the file isn't run.

    They are its classes without an underscore before their names. Each says ``split`` itself, or is to be trained on.
    """
    classes = (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
    return {node.name: _split(node) for node in classes if not node.name.startswith("_")}


def _split(task: ast.ClassDef) -> str:
    said = (ast.unparse(each) for each in task.body if isinstance(each, ast.Assign))
    return "test" if "split = 'test'" in said else "train"


def task_id(runtime: str, name: str) -> str:
    """Return the id of the environment that is a task."""
    return f"{runtime}.{name}-v0"
