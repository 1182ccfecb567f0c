"""Checks a runtime's folder: all mistakes at once, each with its line and remedy, and what is likely to go wrong."""

from __future__ import annotations

import asyncio
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from pluriverse_server.manifest.draft import drop_sources, missing_pictures
from pluriverse_server.manifest.game import GameTables
from pluriverse_server.manifest.runtime import (
    FILE_NAME,
    MAX_GAMES,
    MAX_MANIFEST_BYTES,
    EnvTable,
    GameFile,
    Manifest,
    ManifestError,
)
from pluriverse_server.manifest.table import Table
from pluriverse_server.programs.catalogue import load_catalogue

from .validate_checks import Checks, warnings_of
from .validate_problems import Document, Problem, problems_of

T = TypeVar("T", bound=Table)


@dataclass
class Validation:
    """What was found. ``manifest`` and ``catalogue`` are there once the files could be read as a whole."""

    mistakes: list[Problem] = field(default_factory=list[Problem])
    warnings: list[Problem] = field(default_factory=list[Problem])
    manifest: Manifest | None = None
    catalogue: Mapping[str, EnvTable] = field(default_factory=dict[str, EnvTable])


def validate(directory: Path, *, draft: bool = False) -> Validation:
    """Check the runtime in ``directory``. Runs its catalogue's script, if it has one, and nothing else of it.

    Of a ``draft`` it is no mistake that the pictures which are still to be cut or learnt aren't there.
    """
    found = Validation()
    read = _read(directory / FILE_NAME, Manifest, found.mistakes)
    if read is None:
        return found
    document, manifest = read
    games = _read_games(directory, manifest, document, found.mistakes)
    if found.mistakes:
        return found
    found.manifest = manifest = manifest.with_games([game for _, game in games]) if games else manifest
    try:
        found.catalogue = asyncio.run(load_catalogue(directory, manifest))
    except ManifestError as error:
        found.mistakes += [
            document.problem_of_a_table((), line.removeprefix(f"{document.file}: ")) for line in str(error).splitlines()
        ]
    entries = list(found.catalogue.values())
    parts: list[tuple[Document, GameTables, list[EnvTable]]] = [(document, manifest, entries)]
    if games:
        parts = [(file, game, [game.env]) for file, game in games]
    for file, game, envs in parts:
        limited = all(manifest.environment(entry).time_limit_s is not None for entry in envs)
        missing = frozenset(missing_pictures(game, directory)) if draft else frozenset[str]()
        found.mistakes += Checks(directory, manifest, file).all_of(drop_sources(game, missing), envs)
        found.warnings += [
            file.problem(("sources", name), "its picture isn't there yet: nothing is read of it", warning=True)
            for name in sorted(missing)
        ]
        found.warnings += warnings_of(file, game, limited=limited)
    return found


def _read_games(
    directory: Path, manifest: Manifest, document: Document, mistakes: list[Problem]
) -> list[tuple[Document, GameFile]]:
    if manifest.games is None:
        return []
    paths = sorted((directory / manifest.games).glob("*.toml"))
    if not 0 < len(paths) <= MAX_GAMES:
        there = f"{len(paths)} files *.toml in {directory / manifest.games}"
        mistakes.append(document.problem(("games",), f"expected a folder of 1 to {MAX_GAMES} games; there are {there}"))
    return [read for path in paths[:MAX_GAMES] if (read := _read(path, GameFile, mistakes)) is not None]


def _read(path: Path, model: type[T], mistakes: list[Problem]) -> tuple[Document, T] | None:
    """A file and what it says; None if it can't be read, with the reasons added to ``mistakes``."""
    try:
        if path.stat().st_size > MAX_MANIFEST_BYTES:
            mistakes.append(Problem(path, 1, "", f"over {MAX_MANIFEST_BYTES} bytes; expected a file written by hand"))
            return None
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text)
    except FileNotFoundError:
        mend = f"expected a runtime's folder with a {FILE_NAME} in it; pluriverse-server init makes one"
        mistakes.append(Problem(path, 1, "", f"no such file; {mend}"))
    except OSError as error:
        mistakes.append(Problem(path, 1, "", f"can't be read: {error.strerror}"))
    except (ValueError, RecursionError) as error:
        # Beside its own errors, tomllib lets out those of numbers too long and of nesting too deep.
        line = re.search(r"at line (\d+)", str(error))
        mistakes.append(Problem(path, int(line[1]) if line else 1, "", f"not TOML: {error}"))
    else:
        document = Document(path, text)
        try:
            return document, model.model_validate(values)
        except ValidationError as error:
            mistakes += problems_of(document, model, error)
    return None
