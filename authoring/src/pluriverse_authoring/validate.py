"""Checks a runtime's folder: all mistakes at once, each with its line and remedy, and what is likely to go wrong."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final, TypeVar

from pluriverse_protocol.recording_file import SUFFIX
from pluriverse_server import event_loop
from pluriverse_server.manifest.draft import drop_sources, missing_pictures
from pluriverse_server.manifest.game import GameTables, ResetTable
from pluriverse_server.manifest.page import PageTable
from pluriverse_server.manifest.runtime import (
    FILE_NAME,
    MAX_GAMES,
    EnvTable,
    GameFile,
    KeyPath,
    Manifest,
    ManifestError,
    fill_address,
    fill_command,
    read_document,
)
from pluriverse_server.manifest.sources import (
    AccessibilitySource,
    AnySource,
    NumberSource,
    ProcessSource,
    PythonSource,
    ScreenSource,
    TemplateSource,
    TextSource,
)
from pluriverse_server.manifest.table import Table
from pluriverse_server.programs.catalogue import load_catalogue, python_command
from pydantic import ValidationError

from .first_readings import ends_at_once, values_when_ready
from .labels import FOLDER
from .problems import Document, Problem, problems_of

T = TypeVar("T", bound=Table)


@dataclass
class Validation:
    """The findings. ``manifest`` and ``catalogue`` are only set if the files could be read."""

    mistakes: list[Problem] = field(default_factory=list[Problem])
    warnings: list[Problem] = field(default_factory=list[Problem])
    manifest: Manifest | None = None
    catalogue: Mapping[str, EnvTable] = field(default_factory=dict[str, EnvTable])
    same_starts: list[tuple[Document, EnvTable]] = field(default_factory=list[tuple[Document, EnvTable]])
    """An environment of each file that declares its starts to be the same."""
    compared: dict[str, int] = field(default_factory=dict[str, int])
    """Of those that are the same, in how many different pictures."""

    def check_starts(self, directory: Path) -> None:
        """Start the programs whose starts are declared to be the same, and find those that differ."""
        from .same_start import NotTheSame, compare_starts

        assert self.manifest is not None
        for file, entry in self.same_starts:
            try:
                self.compared[entry.id] = event_loop.run(compare_starts(directory, self.manifest, entry))
            except NotTheSame as error:
                self.mistakes.append(file.problem(("program", "same_start"), str(error)))


def validate(directory: Path, *, draft: bool = False) -> Validation:
    """Check the runtime in ``directory``. Runs nothing of it but its catalogue's script, if it has one.

    In a ``draft``, missing pictures are only warned of.
    """
    found = Validation()
    read = _read(directory / FILE_NAME, Manifest, found.mistakes)
    if read is None:
        return found
    document, manifest = read
    games = _read_games(directory, manifest, document, found.mistakes)
    if found.mistakes:
        return found
    listed: list[tuple[Document, list[GameFile]]] = []
    for file, game in games:
        try:
            listed.append((file, game.environments(directory, manifest)))
        except ManifestError as error:
            found.mistakes.append(file.problem(("tasks",), str(error)))
    if found.mistakes:
        return found
    try:
        if listed:
            manifest = manifest.with_games([game for _, made in listed for game in made])
        found.manifest = manifest = manifest.with_tasks(directory)
        found.catalogue = asyncio.run(load_catalogue(directory, manifest))
    except ManifestError as error:
        found.mistakes += [
            document.problem_of_a_table((), line.removeprefix(f"{document.file}: ")) for line in str(error).splitlines()
        ]
    entries = list(found.catalogue.values())
    recordings = directory / FOLDER
    parts: list[tuple[Document, GameTables, list[EnvTable]]] = [(document, manifest, entries)]
    if games:
        parts = [(file, made[0], [game.env for game in made if game.env is not None]) for file, made in listed]
    for file, game, envs in parts:
        limited = all(manifest.environment(entry).time_limit_s is not None for entry in envs)
        missing = frozenset(missing_pictures(game, directory)) if draft else frozenset[str]()
        found.mistakes += Checks(directory, manifest, file).all_of(drop_sources(game, missing), envs)
        found.warnings += [
            file.problem(("sources", name), "its picture is missing: it isn't read", warning=True)
            for name in sorted(missing)
        ]
        found.warnings += warnings_of(file, game, limited=limited)
        found.warnings += [file.problem(*one, warning=True) for one in unread_digits(directory, game)]
        for env in envs[:1]:
            recorded = {path.name: values_when_ready(path, env.id) for path in sorted(recordings.glob(f"*{SUFFIX}"))}
            found.warnings += [file.problem(*one, warning=True) for one in ends_at_once(game, recorded)]
            if game.program is not None and game.program.same_start:
                found.same_starts.append((file, env))
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
    """Return a file and its model; None, with the reasons in ``mistakes``, if it can't be read."""
    try:
        text, values = read_document(path)
    except ManifestError as error:
        line = re.search(r"at line (\d+)", str(error))
        mistakes.append(Problem(path, int(line[1]) if line else 1, "", str(error).removeprefix(f"{path}: ")))
        return None
    document = Document(path, text)
    try:
        return document, model.model_validate(values)
    except ValidationError as error:
        mistakes += problems_of(document, model, error)
        return None


# Catalogues may have thousands of environments, with the same mistake of a script in all of them.
MAX_ENVIRONMENTS_LISTED: Final = 3

# Values for placeholders.
_SEED: Final = 0
_FPS: Final = 60.0
_HOME: Final = "/home"


class Checks:
    """Checks what the models can't: files, programs, places on the screen, and placeholders, of one file."""

    def __init__(self, directory: Path, manifest: Manifest, document: Document) -> None:
        self._directory = directory
        self._screen = manifest.runtime.screen
        self._page = manifest.page
        self._document = document

    def all_of(self, game: GameTables, envs: Sequence[EnvTable]) -> list[Problem]:
        mistakes = [*self._placeholders(game, envs), *self._places(game)]
        if game.program is not None:
            mistakes += self._program(game, envs)
            mistakes += self._folder(("program", "home"), game.program.home)
        if self._page is not None:
            mistakes += self._page_files(self._page)
        mistakes += self._steps(game.reset)
        for name, source in game.sources.items():
            mistakes += self._source(name, source)
        return mistakes

    def _placeholders(self, game: GameTables, envs: Sequence[EnvTable]) -> Iterator[Problem]:
        listed = 0
        for entry in envs:
            try:
                if game.program is not None:
                    fill_command(game.program.command, entry, seed=_SEED, fps=_FPS, home=_HOME)
                if self._page is not None:
                    fill_address(self._page, entry, seed=_SEED, fps=_FPS)
            except ManifestError as error:
                listed += 1
                if listed <= MAX_ENVIRONMENTS_LISTED:
                    yield self._document.problem_of_a_table((), f"{error}; add the key, or leave the placeholder out")

    def _program(self, game: GameTables, envs: Sequence[EnvTable]) -> Iterator[Problem]:
        assert game.program is not None
        path = game.program.env.get("PATH", os.environ.get("PATH", os.defpath))
        looked_for: set[str] = set()
        for entry in envs:
            try:
                command = fill_command(game.program.command, entry, seed=_SEED, fps=_FPS, home=_HOME)
            except ManifestError:
                continue
            name = python_command(command)[0]
            if name in looked_for:
                continue
            looked_for.add(name)
            # A name with a slash is relative to the runtime's folder, where the program is started.
            place = str(self._directory / name) if "/" in name else name
            if shutil.which(place, path=path) is None:
                where = place if "/" in name else f"on PATH: {name}; PATH is {path}"
                message = f"no program {where}; install it, or give its path"
                yield self._document.problem(("program", "command"), message)

    def _places(self, game: GameTables) -> Iterator[Problem]:
        regions: list[tuple[KeyPath, list[int]]] = [
            (("sources", name, "region"), source.region) for name, source in game.screen_sources.items()
        ]
        if game.episode.picture is not None:
            regions.append((("episode", "picture"), game.episode.picture))
        regions += [
            (("reset", list_name, index, "click"), [*step.click, 1, 1])
            for list_name, steps in (("start", game.reset.start), ("steps", game.reset.steps))
            for index, step in enumerate(steps)
            if step.click is not None
        ]
        width, height = self._screen.width, self._screen.height
        for path, (x, y, wide, high) in regions:
            if x + wide > width or y + high > height:
                reach = f"it reaches to ({x + wide}, {y + high})"
                message = f"not on the screen of {width}x{height} pixels: {reach}; move it, or enlarge runtime.screen"
                yield self._document.problem(path, message)

    def _steps(self, reset: ResetTable) -> Iterator[Problem]:
        for list_name, steps in (("start", reset.start), ("steps", reset.steps)):
            for index, step in enumerate(steps):
                yield from self._file(("reset", list_name, index, "restore"), step.restore)
                place = PurePosixPath(step.to or "")
                if place.is_absolute() or ".." in place.parts:
                    message = f"expected a place below HOME, got {step.to!r}; such as .config/game/save.dat"
                    yield self._document.problem(("reset", list_name, index, "to"), message)

    def _source(self, name: str, source: AnySource) -> Iterator[Problem]:
        if isinstance(source, TemplateSource):
            key, named = "image", source.image
        elif isinstance(source, PythonSource):
            key, named = "file", source.file
        elif isinstance(source, (NumberSource, TextSource)):
            key, named = "glyphs", source.glyphs
        else:
            return
        path = ("sources", name, key)
        missing = list(self._file(path, named))
        yield from missing
        if not missing:
            yield from self._reader(path, name, source)

    def _reader(self, path: KeyPath, name: str, source: ScreenSource) -> Iterator[Problem]:
        """Check the files of a source by making its reader; the runtime's own code isn't run."""
        from pluriverse_server.sources.reading import SourceError
        from pluriverse_server.sources.screen import make_reader
        from pluriverse_server.sources.screen.python import compiled

        try:
            if isinstance(source, PythonSource):
                compiled(self._directory / source.file, name)
            else:
                make_reader(name, source, self._directory)
        except SourceError as error:
            yield self._document.problem(path, str(error))

    def _page_files(self, page: PageTable) -> Iterator[Problem]:
        yield from self._folder(("page", "files"), page.files)
        yield from self._file(("page", "script"), page.script)
        start = (page.start or "").partition("?")[0].partition("#")[0]
        yield from self._file(("page", "serve"), page.serve)
        if page.files is not None and page.serve is None and start and "{" not in start:
            yield from self._file(("page", "start"), f"{page.files}/{start}")

    def _file(self, path: KeyPath, name: str | None) -> Iterator[Problem]:
        if name is not None and not (self._directory / name).is_file():
            yield self._document.problem(path, f"no file {self._directory / name}")

    def _folder(self, path: KeyPath, name: str | None) -> Iterator[Problem]:
        if name is not None and not (self._directory / name).is_dir():
            yield self._document.problem(path, f"no folder {self._directory / name}")


def warnings_of(document: Document, game: GameTables, *, limited: bool) -> list[Problem]:
    """Return what works but is likely to give wrong rewards. ``limited``: episodes have a time limit."""
    if not game.scraped:
        return []
    found: list[tuple[KeyPath, str]] = []
    if not game.rewards:
        own = "" if game.sources else '; a program that reports its own has source = "reports"'
        found.append((("rewards",), f"missing: it runs without rewards; add [[rewards]]{own}"))
    counted = {reward.source for reward in game.rewards if reward.give in ("change", "end")}
    for name, source in game.sources.items():
        if name in counted and not _is_bounded(source):
            found.append(
                (("sources", name), "its changes are rewards, but misreadings are unbounded: add min, max or max_jump")
            )
        if isinstance(source, ScreenSource) and source.agree == 1:
            place = ("sources", name, "agree")
            found.append((place, "a half-drawn frame counts at once; agree = 2 waits for a second equal reading"))
    if not game.episode.done and game.task is None:
        ends = "episodes end only with their time limit" if limited else "episodes never end"
        found.append(
            (("episode", "done"), f"missing: {ends}; add done = a condition of the sources, such as 'lives == 0'")
        )
    return [document.problem(path, message, warning=True) for path, message in found]


def unread_digits(directory: Path, game: GameTables) -> Iterator[tuple[KeyPath, str]]:
    """Yield the glyph files without some of the digits that their numbers may have, which then aren't read."""
    from pluriverse_server.sources.reading import SourceError
    from pluriverse_server.sources.screen.glyphs import load_glyphs

    for name, source in game.sources.items():
        if not isinstance(source, NumberSource) or source.glyphs is None:
            continue
        try:
            known = load_glyphs(directory / source.glyphs, name, directory).characters
        except SourceError:
            continue  # which is a mistake, and reported as one
        largest = max(abs(source.min or 0), source.max) if source.max is not None else 9
        lacking = [digit for digit in "0123456789" if digit not in known and int(digit) <= largest]
        if lacking:
            message = (
                f"it has no {', '.join(lacking)}: numbers with these can't be read; "
                "record and label some, then learn again"
            )
            yield ("sources", name, "glyphs"), message


def _is_bounded(source: AnySource) -> bool:
    numbers = (NumberSource, TextSource, PythonSource)
    shares = isinstance(source, ScreenSource) and not isinstance(source, numbers)
    exit_code = isinstance(source, ProcessSource)
    whether = isinstance(source, AccessibilitySource) and "(?P<value>" not in source.pattern
    return (
        shares or exit_code or whether or any(bound is not None for bound in (source.min, source.max, source.max_jump))
    )
