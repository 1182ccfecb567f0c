"""Which runtime an environment belongs to, and where runtimes are on this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

from pluriverse_protocol import bounded
from pluriverse_protocol.installed import installed_runtimes, task_id, task_splits
from pluriverse_protocol.limits import MAX_PAGE_SLOTS

from pluriverse.errors import ConfigurationError, did_you_mean

VARIABLE: Final = "PLURIVERSE_RUNTIMES"
MANIFEST: Final = "runtime.toml"
IMAGE_PREFIX: Final = "pluriverse/"

# Families of ids that agents of Universe know, and that don't begin with their runtime's name.
FAMILIES: Final = {"wob": "world-of-bits"}


# Written by setup.py, of the runtimes beside it: an agent's machine doesn't have them, and asking them takes seconds.
_LIST: Final = Path(__file__).parent / "adapters" / "listed.txt"


Splits = dict[str, str]
"""Ids of environments, each with its split: train or test for a task, else nothing."""


def listed() -> Splits:
    """Return all environments that come with pluriverse, sorted."""
    entries = (line.partition(" ") for line in _LIST.read_text().splitlines())
    return {env_id: split for env_id, _, split in entries}


def named() -> Splits:
    """Return the environments that the files of this machine's other runtimes name; nothing is started."""
    shipped = {runtime_of(env_id) for env_id in listed()}
    own = (folder for runtime, folder in local_runtimes().items() if runtime not in shipped)
    return {env_id: split for folder in own for env_id, split in named_environments(folder).items()}


def runtime_of(env_id: str) -> str:
    """Return the runtime of an environment: what stands before the first dot of its id, or the family's runtime."""
    runtime, dot, rest = env_id.partition(".")
    if not (runtime and dot and rest) or "/" in runtime:
        near = did_you_mean(_name(env_id), {_name(each): each for each in [*listed(), *named()]})
        raise ConfigurationError(
            f"environment {env_id!r}: expected RUNTIME.NAME, such as gym-core.PongDeterministic-v3{near}"
        )
    return FAMILIES.get(runtime, runtime)


def _name(env_id: str) -> str:
    """Return what an environment's id has behind its runtime or namespace, and before its version."""
    return re.sub(r"-v\d+$", "", re.split(r"[./]", env_id)[-1])


def runtime_folder(runtime: str) -> Path:
    """Return the folder with the runtime's ``runtime.toml``; a ``ConfigurationError`` names where it looked."""
    here = local_runtimes()
    if runtime in here:
        return here[runtime]
    folders = " nor in ".join(["an installed package", *map(str, runtimes_folders())])
    raise ConfigurationError(
        f"there is no runtime {runtime!r} on this machine{did_you_mean(runtime, dict.fromkeys(here))}, neither "
        f"in {folders}; install it: pip install pluriverse-runtime-{runtime}; or name the folder that holds it: "
        f"export {VARIABLE}=/path/to/runtimes"
    )


def slots_of(env_id: str) -> int | None:
    """Return how many environments a remote of this one's runtime holds in lockstep; None: the runtime isn't here."""
    try:
        folder = runtime_folder(runtime_of(env_id))
    except ConfigurationError:
        return None
    document = _document(folder / MANIFEST)
    return MAX_PAGE_SLOTS if "page" in document else _table(document, "program").get("slots", 1)


def local_runtimes() -> dict[str, Path]:
    """Return the folders of the runtimes on this machine by their ids, sorted; of two with one id the first counts.

    Those of ``$PLURIVERSE_RUNTIMES`` or of a checkout come before installed packages.
    """
    found: dict[str, Path] = {}
    for place in runtimes_folders():
        for manifest in (place / MANIFEST, *sorted(place.glob(f"*/{MANIFEST}"))):
            if manifest.is_file():
                # One that can't be read is its folder's: the error is reported when it is used.
                runtime = _table(_document(manifest), "runtime").get("id")
                found.setdefault(runtime if isinstance(runtime, str) else manifest.parent.name, manifest.parent)
    return dict(sorted((installed_runtimes() | found).items()))


def named_environments(folder: Path) -> Splits:
    """Return the environments that a runtime's files name; those of a catalogue's script are not in them."""
    document = _document(folder / MANIFEST)
    tables: list[object] = document.get("envs", [])
    games = document.get("games")
    files = document.get("tasks")
    tasks: Splits = {}
    for file in cast("list[object]", files) if isinstance(files, list) else [files]:
        tasks |= _task_splits(folder, file)
    if isinstance(games, str):
        for path in sorted((folder / games).glob("*.toml")):
            game = _document(path)
            tables.append(game.get("env"))
            tasks |= _task_splits(path.parent, game.get("tasks"))
    runtime = _table(document, "runtime").get("id")
    ids = [cast("dict[str, Any]", table).get("id") for table in tables if isinstance(table, dict)]
    return {env_id: "" for env_id in ids if isinstance(env_id, str)} | {
        task_id(str(runtime), name): split for name, split in tasks.items()
    }


def _task_splits(folder: Path, file: object) -> Splits:
    """Return the tasks of a game's file by name; none if it has none, or they can't be read."""
    if not isinstance(file, str):
        return {}
    try:
        with (folder / file).open("rb") as source:
            return task_splits(bounded.read(source).decode())
    except (OSError, ValueError, SyntaxError):
        return {}


def _document(path: Path) -> dict[str, Any]:
    """Return a TOML file's tables; nothing if it can't be read."""
    try:
        with path.open("rb") as file:
            return bounded.parse_toml(bounded.read(file))
    except (OSError, ValueError):
        return {}


def _table(document: dict[str, Any], name: str) -> dict[str, Any]:
    table = document.get(name)
    return cast("dict[str, Any]", table) if isinstance(table, dict) else {}


def runtimes_folders() -> Iterator[Path]:
    """Yield the folders of $PLURIVERSE_RUNTIMES, each a runtime's or one of runtimes.

    Without the variable, ``runtimes`` of the checkouts that hold this package and the working folder.
    """
    if os.environ.get(VARIABLE):
        yield from (Path(place).expanduser().resolve() for place in os.environ[VARIABLE].split(os.pathsep) if place)
        return
    seen: set[Path] = set()
    for start in (Path(__file__).resolve(), Path.cwd() / "here"):
        for parent in start.parents:
            place = parent / "runtimes"
            if place not in seen and any(place.glob(f"*/{MANIFEST}")):
                seen.add(place)
                yield place
                break
