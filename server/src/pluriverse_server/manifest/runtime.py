"""A whole runtime.toml, validated. Pure but for reading the files.

Each problem names the file, the key and what was expected; all problems of a file are reported at once.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeVar
from urllib.parse import quote
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pluriverse_protocol.env_options import Option, Value, complete
from pluriverse_protocol.env_spaces import Spaces
from pluriverse_protocol.installed import task_id
from pluriverse_protocol.limits import MAX_ENV_ID_CHARS, MAX_FPS, MAX_PAGE_SLOTS, MAX_SLOTS, MIN_FPS
from pluriverse_protocol.metadata import HEIGHT, WIDTH
from pluriverse_protocol.reports import EVIDENCE
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from pluriverse_server.episode import Environment
from pluriverse_server.task import Task, TaskError, load_tasks

from .game import OWN_SOURCES, GameTables, RewardTable
from .options import Options, OptionsTable
from .page import MAX_ZOOM, PageTable
from .sources import KINDS, TaskSource
from .spaces import SharedSpacesTable, SpacesTable
from .table import MissingValue, Name, Table, checked, fill, placeholders, spelt

FILE_NAME: Final = "runtime.toml"

# RFB sends sizes in 16 bits; the X servers allocate the whole of it at once.
MAX_SCREEN_PIXELS: Final = 8192

# A file of megabytes isn't one that was written by hand.
MAX_MANIFEST_BYTES: Final = 1024 * 1024

# Each is read when the remote starts.
MAX_GAMES: Final = 256


T = TypeVar("T", bound=Table)

# Unset options have their defaults.
NO_OPTIONS: Final[Mapping[str, Value]] = MappingProxyType({})

_TASK_OPTIONS: Final = Options(
    {EVIDENCE: Option("boolean", False, description="whether its end tells what was graded")}
)

# As pydantic's locations: keys, and indices of arrays.
KeyPath = tuple[str | int, ...]


class ManifestError(Exception):
    """A runtime.toml that can't be used; the message has a line for each problem."""


class Size(Table):
    width: Annotated[int, Field(ge=16, le=MAX_SCREEN_PIXELS)]
    height: Annotated[int, Field(ge=16, le=MAX_SCREEN_PIXELS)]


class Point(Table):
    x: Annotated[int, Field(ge=0, le=MAX_SCREEN_PIXELS)]
    y: Annotated[int, Field(ge=0, le=MAX_SCREEN_PIXELS)]


class MetadataPlace(Point):
    """Where the metadata block is, and whether the program paints it or the daemon's overlay does.

    ``qr``: where the overlay shows the same as a QR code, of 100x100 pixels.
    """

    painted_by: Literal["program", "overlay"] = "program"
    qr: Point | None = None


def _check_zone(name: str) -> None:
    try:
        ZoneInfo(name)
    except (OSError, ValueError, ZoneInfoNotFoundError):
        raise ValueError("expected a time zone that this machine knows, such as Europe/Berlin") from None


class RuntimeTable(Table):
    """``[runtime]``: identity, screen and frame rate. ``lang`` and ``tz``: what its program or page takes for home."""

    id: Annotated[str, Field(max_length=64), spelt(r"[a-z0-9][a-z0-9-]*", "lower-case letters, digits and dashes")]
    version: Annotated[str, spelt(r"[0-9]+\.[0-9]+\.[0-9]+", "three numbers with dots between them, such as 0.1.0")]
    title: str
    default_env: str
    screen: Size = Size(width=1024, height=768)
    fps: Annotated[float, Field(ge=MIN_FPS, le=MAX_FPS)] = 60.0
    lang: Annotated[str, spelt(r"C\.UTF-8|[a-z]{2,3}_[A-Z]{2}\.UTF-8", "a UTF-8 locale, such as de_DE.UTF-8")] = (
        "C.UTF-8"
    )
    tz: Annotated[str, checked(_check_zone)] = "UTC"
    metadata: MetadataPlace | None = None

    @property
    def locale(self) -> dict[str, str]:
        return {"LANG": self.lang, "TZ": self.tz}

    @property
    def language(self) -> str:
        return "en-US" if self.lang.startswith("C.") else self.lang.partition(".")[0].replace("_", "-")

    @property
    def block(self) -> MetadataPlace:
        """Where the metadata block is; by default the overlay's, in the corner at the bottom right."""
        if self.metadata is not None:
            return self.metadata
        return MetadataPlace(x=self.screen.width - WIDTH, y=self.screen.height - HEIGHT, painted_by="overlay")

    @model_validator(mode="after")
    def _block_on_screen(self) -> RuntimeTable:
        place, screen = self.metadata, self.screen
        if place and (place.x + WIDTH > screen.width or place.y + HEIGHT > screen.height):
            raise ValueError(
                f"the metadata block, {WIDTH}x{HEIGHT} at ({place.x}, {place.y}), "
                f"isn't on the screen of {screen.width}x{screen.height}"
            )
        return self


class TimeLimit(Table):
    seconds: Annotated[float, Field(gt=0)]


class CatalogueTable(Table):
    """A script that prints the environments as a JSON list of tables as in ``[[envs]]``."""

    command: Annotated[list[str], Field(min_length=1)]
    timeout_s: Annotated[float, Field(gt=0, le=60)] = 10.0


class EnvTable(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True, strict=True, allow_inf_nan=False)

    id: Annotated[str, Field(min_length=1, max_length=MAX_ENV_ID_CHARS)]
    title: str = ""
    fps: Annotated[float, Field(ge=MIN_FPS, le=MAX_FPS)] | None = None
    sync: bool = False
    time_limit_s: Annotated[float, Field(gt=0)] | None = None
    time_limit_grace_s: Annotated[float, Field(ge=0)] = 0.0
    spaces: SharedSpacesTable | None = None
    options: OptionsTable = Options()


class MissingTable(Table):
    """Environments that agents may ask for and there are none of: ids by a pattern such as ``wob.real.*``, and why."""

    ids: Annotated[str, Field(min_length=1, max_length=MAX_ENV_ID_CHARS)]
    why: Annotated[str, Field(min_length=1, max_length=500)]


class GameFile(GameTables):
    """A game's own file: one environment of a runtime that has many programs, or one for each of its ``tasks``."""

    env: EnvTable | None = None
    tasks: Name | None = None
    spaces: SpacesTable | None = None
    time_limit: TimeLimit | None = None

    @model_validator(mode="after")
    def _is_scraped(self) -> GameFile:
        if self.program is None or not self.scraped:
            raise ValueError("expected [program], and [sources] with [[rewards]]")
        if (self.env is None) == (self.tasks is None):
            raise ValueError("expected [env] or tasks, one of the two")
        if self.tasks is not None and self.rewards:
            raise ValueError("expected no [[rewards]] with tasks, whose checks are what is earned")
        if self.tasks is not None and (self.reset.by == "keys" or (self.reset.spares and not self.program.same_start)):
            raise ValueError(
                'expected reset.by = "restart" with tasks, and program.same_start with reset.spares: each begins in a '
                "HOME of its own"
            )
        return self

    def environments(self, directory: Path, manifest: Manifest) -> list[GameFile]:
        """Return itself, or what its tasks make of it; raise ManifestError if their file can't be used.

        ``directory`` and ``manifest`` are the runtime's.
        """
        if self.tasks is None:
            return [self]
        tasks = _tasks_of(directory, f"{manifest.games}/{self.tasks}")
        return [self._with_task(source, task, manifest) for source, task in tasks]

    def _with_task(self, source: TaskSource, task: Task, manifest: Manifest) -> GameFile:
        changes = task.grade == "change"
        done = {**self.episode.done, **({"done": f"{source.from_} >= 1"} if changes else {})}
        return self.model_copy(
            update={
                "env": _env_of(manifest, source.name, task, self.spaces),
                "sources": {**self.sources, source.from_: source},
                "rewards": [RewardTable(source=source.from_, give=task.grade, begins=0.0 if changes else None)],
                "reset": self.reset.model_copy(update={"by": "restart"}),
                "episode": self.episode.model_copy(update={"done": done}),
            }
        )


def _tasks_of(directory: Path, file: str) -> list[tuple[TaskSource, Task]]:
    """Return the tasks of a file in ``directory``, a runtime's; raise ManifestError if it can't be used."""
    try:
        tasks = load_tasks(directory / file)
    except TaskError as error:
        raise ManifestError(str(error)) from None
    return [(TaskSource(file=file, name=name, min=0.0, max=1.0), task) for name, task in tasks.items()]


def _env_of(manifest: Manifest, name: str, task: Task, spaces: SpacesTable | None = None) -> EnvTable:
    spaces = (spaces or manifest.spaces or SpacesTable()).model_copy(update={"submit": True, "text": True})
    of_task: dict[str, Any] = {"words": task.words, "split": task.split, "difficulty": task.difficulty}
    env_id = task_id(manifest.runtime.id, name)
    return EnvTable(
        id=env_id, title=task.words, time_limit_s=float(task.seconds), spaces=spaces, options=_TASK_OPTIONS, **of_task
    )


class Manifest(GameTables):
    """A whole runtime.toml. ``games``: a folder of files, each an environment with a program and rewards of its own.

    ``tasks``: a file with what is to be done in its page, or a list of files.
    """

    runtime: RuntimeTable
    page: PageTable | None = None
    games: Annotated[str, Field(min_length=1)] | None = None
    tasks: Annotated[list[Name], BeforeValidator(lambda said: [said] if isinstance(said, str) else said)] = []
    time_limit: TimeLimit | None = None
    spaces: SpacesTable | None = None
    catalogue: CatalogueTable | None = None
    envs: list[EnvTable] = Field(default_factory=list[EnvTable])
    missing: list[MissingTable] = Field(default_factory=list[MissingTable])
    _games: dict[str, GameTables] = PrivateAttr(default_factory=dict[str, GameTables])

    @model_validator(mode="after")
    def _one_catalogue(self) -> Manifest:
        others = (self.catalogue, self.games, self.tasks or None)
        if bool(self.envs) + sum(other is not None for other in others) != 1:
            raise ValueError(
                "expected environments as [[envs]], from [catalogue], games, or a page's tasks: one of these"
            )
        if self.tasks and (self.page is None or self.rewards):
            raise ValueError("expected tasks with [page] and without [[rewards]], or in a game's file")
        return self

    @model_validator(mode="after")
    def _one_that_plays(self) -> Manifest:
        if self.games is not None:
            own = sorted((GameTables.model_fields.keys() | {"page"}) & self.model_fields_set)
            if own:
                raise ValueError(f"expected {', '.join(own)} in the games' files alone")
            return self
        paged = self.reset.by == "page"
        played, other = (self.page, self.program) if paged else (self.program, self.page)
        if played is None or other is not None:
            raise ValueError('expected [page] with reset.by = "page", and [program] otherwise')
        own = {reward.source for reward in self.rewards} & set(OWN_SOURCES)
        if self.scraped and "page" in own:
            raise ValueError("expected rewards of the sources by their names, or of reports; [sources] read no page")
        if not self.scraped and self.rewards and own != {"page" if paged else "reports"}:
            expected = "page" if paged else "reports"
            raise ValueError(f'expected rewards of source = "{expected}" with reset.by = "{self.reset.by}"')
        return self

    @property
    def plays_scraped(self) -> bool:
        """Whether its programs report nothing themselves, and are read by a scraper."""
        return self.games is not None or self.scraped

    @property
    def has_scraper(self) -> bool:
        """Whether a scraper stands between the daemon and what plays: programs that are read, or pages."""
        return self.plays_scraped or self.page is not None

    def game(self, env_id: str) -> GameTables:
        return self._games.get(env_id, self)

    def is_rewarded(self, env_id: str) -> bool:
        """Return whether anything is earned in an environment; without [[rewards]] it is drawn alone."""
        return bool(self.game(env_id).rewards)

    @property
    def all_games(self) -> Sequence[GameTables]:
        return list(self._games.values()) or [self]

    def clocks(self, env_id: str) -> tuple[str, ...]:
        if self.page is not None:
            # What comes from elsewhere takes its own time.
            in_lockstep = self.page.files is not None and not self.page.origins
            return ("realtime", "lockstep") if in_lockstep else ("realtime",)
        program = self.game(env_id).program
        return tuple(program.clock) if program is not None else ("realtime",)

    def slots(self, env_id: str) -> int:
        game = self.game(env_id)
        program = game.program
        if self.page is not None and "lockstep" in self.clocks(env_id):
            # What opens windows needs a screen of its own.
            return 1 if {"popups", "dialogs"} & set(self.page.allow) else MAX_PAGE_SLOTS
        if program is None or "lockstep" not in program.clock:
            return 1
        return MAX_SLOTS if self.plays_scraped and game.may_be_kept else program.slots

    def with_games(self, games: Sequence[GameFile]) -> Manifest:
        envs = [
            game.env.model_copy(
                update={
                    "spaces": game.env.spaces or game.spaces,
                    "time_limit_s": game.env.time_limit_s or (game.time_limit.seconds if game.time_limit else None),
                }
            )
            for game in games
            if game.env is not None
        ]
        manifest = self.model_copy(update={"envs": envs})
        manifest._games = {game.env.id: game for game in games if game.env is not None}
        return manifest

    def with_tasks(self, directory: Path) -> Manifest:
        """Return it with the environments that its page's tasks are, if it has any; ``directory`` is the runtime's."""
        if not self.tasks:
            return self
        envs: list[EnvTable] = []
        games: dict[str, GameTables] = {}
        for source, task in itertools.chain.from_iterable(_tasks_of(directory, file) for file in self.tasks):
            if task.grade != "submit":
                raise ManifestError(
                    f'{directory / source.file}: {source.name}: expected grade = "submit" of a page\'s task'
                )
            envs.append(_env_of(self, source.name, task))
            reward = RewardTable(source=source.from_, give=task.grade)
            games[envs[-1].id] = self.model_copy(update={"sources": {source.from_: source}, "rewards": [reward]})
        manifest = self.model_copy(update={"envs": envs})
        manifest._games = games
        return manifest

    def zoomed(self, zoom: int) -> Manifest:
        if self.page is None:
            raise ManifestError(f"runtime {self.runtime.id} isn't a web page and can't be zoomed; remove --zoom")
        if not 1 <= zoom <= MAX_ZOOM:
            raise ManifestError(f"the zoom is {zoom}, expected 1 to {MAX_ZOOM}")
        return self.model_copy(update={"page": self.page.model_copy(update={"zoom": zoom})})

    def environment(self, entry: EnvTable, options: Mapping[str, Value] = NO_OPTIONS) -> Environment:
        """Return what the episode machine needs of ``entry``, with the manifest's defaults and those of its options."""
        limit = self.time_limit_of(entry)
        ends_after = None if limit is None else limit + entry.time_limit_grace_s
        fps = entry.fps or self.runtime.fps
        return Environment(entry.id, fps, entry.sync, ends_after, complete(entry.options, options))

    def time_limit_of(self, entry: EnvTable) -> float | None:
        """Return the seconds after which an episode ends; one that ends itself may take its grace longer."""
        return entry.time_limit_s or (self.time_limit.seconds if self.time_limit else None)

    def spaces_of(self, entry: EnvTable) -> Spaces | None:
        table, program = entry.spaces or self.spaces, self.game(entry.id).program
        return table.spaces(program.pads if program is not None else 0) if table is not None else None


def fill_command(
    command: list[str],
    entry: EnvTable,
    *,
    seed: int,
    fps: float,
    home: str | None = None,
    options: Mapping[str, Value] = NO_OPTIONS,
    task: Mapping[str, Any] | None = None,
) -> list[str]:
    """Return the command with each ``{placeholder}`` replaced; ``home`` is a scraped program's.

    ``task`` are the parameters of a task; None: they aren't known yet, and left out.
    """
    given: dict[str, Any] = {"seed": seed, "fps": fps, "home": home}
    names = [name for name in placeholders(command) if name.startswith("task.")] if task is None else ()
    given |= dict.fromkeys(names, "") | {f"task.{name}": value for name, value in (task or {}).items()}
    return _fill(command, "program.command", entry, str, given, options)


def fill_address(
    page: PageTable, entry: EnvTable, *, seed: int, fps: float, options: Mapping[str, Value] = NO_OPTIONS
) -> str:
    """Return the page's ``url`` or ``start`` with each ``{placeholder}`` replaced by its value, URL-quoted."""
    key, template = ("page.url", page.url) if page.url is not None else ("page.start", page.start)
    assert template is not None
    return _fill([template], key, entry, quote, {"seed": seed, "fps": fps}, options)[0]


def _fill(
    templates: list[str],
    key: str,
    entry: EnvTable,
    write: Callable[[str], str],
    given: dict[str, Any],
    options: Mapping[str, Value],
) -> list[str]:
    values: dict[str, Any] = {"env": entry.id, **{name: value for name, value in given.items() if value is not None}}
    values |= {f"env.{name}": value for name, value in entry.model_dump().items()}
    values |= {f"options.{name}": value for name, value in complete(entry.options, options).items()}
    try:
        return [fill(template, values, write) for template in templates]
    except MissingValue as missing:
        name = missing.args[0]
        if name == "home":
            raise ManifestError(f"{key} asks for {{home}}, which only programs with [sources] have") from None
        raise ManifestError(f"environment {entry.id!r} lacks the key {name!r} that {key} asks for") from None


def load(directory: Path) -> Manifest:
    manifest = _read(directory / FILE_NAME, Manifest)
    if manifest.games is None:
        return manifest.with_tasks(directory)
    paths = sorted((directory / manifest.games).glob("*.toml"))
    if not 0 < len(paths) <= MAX_GAMES:
        raise ManifestError(f"{directory / manifest.games}: {len(paths)} files *.toml; expected 1 to {MAX_GAMES}")
    games: list[GameFile] = []
    problems: list[str] = []
    for path in paths:
        try:
            games += _read(path, GameFile).environments(directory, manifest)
        except ManifestError as error:
            problems.append(str(error))
    if problems:
        raise ManifestError("\n".join(problems))
    return manifest.with_games(games)


def _read(path: Path, kind: type[T]) -> T:
    _, values = read_document(path)
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise ManifestError(describe(path, error)) from None


def read_document(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the text of a TOML file, and its tables."""
    try:
        if path.stat().st_size > MAX_MANIFEST_BYTES:
            raise ManifestError(f"{path}: over {MAX_MANIFEST_BYTES} bytes; expected a file written by hand")
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        mend = (
            f"expected a runtime's folder with a {FILE_NAME} in it, which pluriverse-server init makes, "
            "or the id of an installed one: pip install pluriverse-runtime-ID"
        )
        raise ManifestError(f"{path}: no such file; {mend}") from None
    except OSError as error:
        raise ManifestError(f"{path}: can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ManifestError(f"{path}: not TOML: {error.object[error.start]:#x} is not UTF-8 (at line {line})") from None
    try:
        return text, tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        # tomllib also raises for numbers that are too long and nesting that is too deep.
        raise ManifestError(f"{path}: not TOML: {_true_line(text, error)}") from None


def _true_line(text: str, error: ValueError | RecursionError) -> str:
    """Return what is wrong; of what is there twice, ``tomllib`` names the end of the second one, not its beginning."""
    message = str(error)
    found = re.fullmatch(
        r"Cannot (?:overwrite|declare|mutate) .* \(at (?:line (\d+), column \d+|end of document)\)", message
    )
    if found is None:
        return message
    rows = text.split("\n")
    line = int(found[1] or len(rows))
    while not _is_toml("\n".join(rows[: line - 1])):
        line -= 1
    return f"{rows[line - 1].strip()!r:.80} is already defined (at line {line})"


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except ValueError:
        return False
    return True


def describe(path: Path, error: ValidationError, key_prefix: str = "") -> str:
    """Describe each problem on a line: file, key, what was expected, what was found."""
    lines: list[str] = []
    for problem in error.errors(include_url=False):
        key = key_prefix + dotted(key_path(problem["loc"]))
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            message = "unknown key; is it misspelt, or in the wrong table?"
        elif problem["type"] == "missing":
            message = "missing; expected a value"
        else:
            message = f"{message[0].lower()}{message[1:]}, got {problem['input']!r:.80}"
        lines.append(f"{path}: {key or 'the file'}: {message}")
    return "\n".join(lines)


def key_path(location: KeyPath) -> KeyPath:
    """Return the path of the key that pydantic means, without what it adds: a source's class, and its mark of keys."""
    path = tuple(part for part in location if part != "[key]")
    return (*path[:2], *path[3:]) if len(path) > 2 and path[0] == "sources" and path[2] in KINDS else path


def dotted(path: KeyPath) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
