"""The environments of the runtimes on this machine, and of the images that its Docker engine has."""

from __future__ import annotations

import contextlib
import importlib.util
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, cast

import docker
from pluriverse_protocol.strict_json import parse

from .errors import PluriverseError
from .remotes.docker import ENGINE_ERRORS
from .remotes.local import SERVER
from .remotes.progress import waiting
from .runtimes import IMAGE_PREFIX, local_runtimes, runtime_folder

# A runtime's script that lists its environments has ten seconds; starting Python or a container comes on top.
LIST_S: Final = 30.0

Entry = dict[str, Any]


class CatalogueError(PluriverseError):
    """A runtime's environments can't be listed; with the reason."""


def environments(runtime: str | None = None) -> list[Entry]:
    """Return all environments of one runtime, or of every runtime here, sorted by id.

    Each has at least ``id``, ``title`` and ``runtime``.
    """
    found: dict[str, Entry] = {}
    local = _local()
    names = [name for name in runtimes() if runtime in (None, name)]

    def ask(name: str) -> list[Entry]:
        return _of_folder(name) if name in local else _of_image(name)

    with waiting(f"asking {', '.join(names)} for environments"), ThreadPoolExecutor() as threads:
        listed = list(threads.map(ask, names))
    for name, entries in zip(names, listed, strict=True):
        for entry in entries:
            found.setdefault(str(entry["id"]), {"title": "", **entry, "runtime": name})
    if not found:
        what = f"no runtime {runtime!r}" if runtime else "no runtime"
        raise CatalogueError(
            f"there is {what} on this machine; see what is missing with: pluriverse doctor"
            " (or build an image in a checkout with: pluriverse-server build runtimes/gym-core)"
        )
    return [found[key] for key in sorted(found)]


def runtimes() -> list[str]:
    """Return the runtimes that can run on this machine, as processes or in Docker, without running any."""
    local = _local()
    return [*local, *(name for name in _images() if name not in local)]


def _local() -> dict[str, Path]:
    return local_runtimes() if importlib.util.find_spec(SERVER) is not None else {}


def _of_folder(runtime: str) -> list[Entry]:
    command = [sys.executable, "-m", SERVER, "envs", str(runtime_folder(runtime)), "--json"]
    try:
        result = subprocess.run(command, capture_output=True, timeout=LIST_S, check=True)
    except subprocess.CalledProcessError as error:
        raise CatalogueError(f"runtime {runtime}: {error.stderr.decode(errors='replace').strip()}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CatalogueError(f"runtime {runtime} can't list its environments: {error}") from error
    return _entries(runtime, result.stdout)


def _images() -> list[str]:
    try:
        with contextlib.closing(docker.from_env(timeout=int(LIST_S))) as client:
            tags = [tag for image in client.images.list() for tag in image.tags]
    except ENGINE_ERRORS:
        return []  # no engine
    names = {tag.partition(":")[0] for tag in tags}
    return sorted(name.removeprefix(IMAGE_PREFIX) for name in names if name.startswith(IMAGE_PREFIX))


def _of_image(runtime: str) -> list[Entry]:
    command = ["envs", "/runtime", "--json"]
    try:
        with contextlib.closing(docker.from_env(timeout=int(LIST_S))) as client:
            output = client.containers.run(IMAGE_PREFIX + runtime, command, remove=True, network_disabled=True)
    except ENGINE_ERRORS as error:
        raise CatalogueError(f"image {IMAGE_PREFIX}{runtime} can't list its environments: {error}") from error
    return _entries(runtime, output)


def _entries(runtime: str, text: bytes) -> list[Entry]:
    try:
        document: Any = parse(text)
    except ValueError as error:
        raise CatalogueError(f"runtime {runtime} doesn't list its environments as JSON: {error}") from error
    entries = cast("list[Any]", document) if isinstance(document, list) else []
    if not entries or not all(isinstance(entry, dict) and "id" in entry for entry in entries):
        raise CatalogueError(f"runtime {runtime} doesn't list its environments as objects with an id")
    return cast("list[Entry]", entries)
