"""Which runtime an environment belongs to, and where runtimes are on this machine."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pluriverse.errors import ConfigurationError

VARIABLE: Final = "PLURIVERSE_RUNTIMES"
MANIFEST: Final = "runtime.toml"
IMAGE_PREFIX: Final = "pluriverse/"

# Families of ids that agents of Universe know, and that don't begin with their runtime's name.
FAMILIES: Final = {"wob": "world-of-bits"}


def runtime_of(env_id: str) -> str:
    """Return the runtime of an environment: what stands before the first dot of its id, or the family's runtime.

    Raises:
        ConfigurationError: the id has no such part.
    """
    runtime, dot, rest = env_id.partition(".")
    if not (runtime and dot and rest):
        raise ConfigurationError(
            f"environment {env_id!r}: expected RUNTIME.NAME, such as gym-core.PongDeterministic-v3"
        )
    return FAMILIES.get(runtime, runtime)


def runtime_folder(runtime: str) -> Path:
    """Return the folder with the runtime's ``runtime.toml``; else a ``ConfigurationError`` says where it was sought."""
    places = list(runtimes_folders())
    for place in places:
        if (place / runtime / MANIFEST).is_file():
            return place / runtime
    looked = ", ".join(map(str, places)) or "nowhere: there is no checkout above this folder"
    raise ConfigurationError(
        f"there is no runtime {runtime!r} on this machine (looked in {looked}); "
        f"name the folder that holds it with: export {VARIABLE}=/path/to/runtimes"
    )


def slots_of(env_id: str) -> int | None:
    """Return how many environments a remote of this one's runtime holds in lockstep; None: the runtime isn't here."""
    try:
        manifest = tomllib.loads((runtime_folder(runtime_of(env_id)) / MANIFEST).read_text())
    except (ConfigurationError, OSError, ValueError):
        return None
    return manifest.get("program", {}).get("slots", 1)


def local_runtimes() -> list[str]:
    """Return the ids of the runtimes on this machine."""
    return sorted({manifest.parent.name for place in runtimes_folders() for manifest in place.glob(f"*/{MANIFEST}")})


def runtimes_folders() -> Iterator[Path]:
    """Yield $PLURIVERSE_RUNTIMES, else ``runtimes`` of the checkouts that hold this package and the working folder."""
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
