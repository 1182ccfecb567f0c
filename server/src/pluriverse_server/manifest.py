"""runtime.toml: what a runtime is, validated. Pure but for reading the one file.

Each problem names the file, the key and what was expected; all problems of a file are told at once.
"""

from __future__ import annotations

import re
import string
import tomllib
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pluriverse_protocol.limits import MAX_ENV_ID_CHARS, MAX_FPS
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from .episode import Environment

FILE_NAME: Final = "runtime.toml"

# RFB says sizes in 16 bits; the X servers allocate the whole of it at once.
MAX_SCREEN_PIXELS: Final = 8192

# A runtime.toml is written by hand; one of megabytes is some other file.
MAX_MANIFEST_BYTES: Final = 1024 * 1024

PLACEHOLDERS: Final = ("env", "env.<key>", "seed", "fps")


class ManifestError(Exception):
    """A runtime.toml that can't be used; the message lists what is wrong with it, a line each."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Size(_Table):
    """A size in pixels."""

    width: Annotated[int, Field(ge=16, le=MAX_SCREEN_PIXELS)]
    height: Annotated[int, Field(ge=16, le=MAX_SCREEN_PIXELS)]


class Point(_Table):
    """A place on the screen, in pixels from its top left."""

    x: Annotated[int, Field(ge=0, le=MAX_SCREEN_PIXELS)]
    y: Annotated[int, Field(ge=0, le=MAX_SCREEN_PIXELS)]


class RuntimeTable(_Table):
    """What the runtime is."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=64)]
    version: Annotated[str, Field(pattern=r"^\d+\.\d+\.\d+$")]
    title: str
    default_env: str
    screen: Size = Size(width=1024, height=768)
    fps: Annotated[float, Field(gt=0, le=MAX_FPS)] = 60.0
    metadata: Point | None = None


class Ready(_Table):
    """How it is known that an episode's first frame is on the screen."""

    report: Literal["ready"] = "ready"
    timeout_s: Annotated[float, Field(gt=0, le=600)] = 10.0


class ProgramTable(_Table):
    """How the program is started. A program that reported frames and stops for ``frozen_after_s`` is replaced."""

    command: Annotated[list[str], Field(min_length=1)]
    ready: Ready = Ready()
    frozen_after_s: Annotated[float, Field(gt=0, le=600)] = 5.0

    @field_validator("command")
    @classmethod
    def _known_placeholders(cls, command: list[str]) -> list[str]:
        for name in placeholders(command):
            if name not in ("env", "seed", "fps") and not re.fullmatch(r"env\.\w+", name):
                known = ", ".join(f"{{{placeholder}}}" for placeholder in PLACEHOLDERS)
                raise ValueError(f"unknown placeholder {{{name}}}; known: {known}")
        return command


class ResetTable(_Table):
    """How an episode begins: the program is asked for it (``report``) or started anew (``restart``)."""

    by: Literal["report", "restart"] = "report"


class RewardTable(_Table):
    """Where reward and done come from."""

    source: Literal["reports"]


class TimeLimit(_Table):
    """How long an episode may run before it is truncated."""

    seconds: Annotated[float, Field(gt=0)]


class CatalogueTable(_Table):
    """A small script that prints the environments as a JSON list of the tables that ``[[envs]]`` would hold."""

    command: Annotated[list[str], Field(min_length=1)]
    timeout_s: Annotated[float, Field(gt=0, le=60)] = 10.0


class EnvTable(BaseModel):
    """One environment. Further keys are the runtime's own: ``{env.key}`` in the command stands for them."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True, allow_inf_nan=False)

    id: Annotated[str, Field(min_length=1, max_length=MAX_ENV_ID_CHARS)]
    title: str = ""
    fps: Annotated[float, Field(gt=0, le=MAX_FPS)] | None = None
    sync: bool = False
    time_limit_s: Annotated[float, Field(gt=0)] | None = None


class Manifest(_Table):
    """A whole runtime.toml."""

    runtime: RuntimeTable
    program: ProgramTable
    reset: ResetTable = ResetTable()
    rewards: Annotated[list[RewardTable], Field(min_length=1)]
    time_limit: TimeLimit | None = None
    catalogue: CatalogueTable | None = None
    envs: list[EnvTable] = []

    @model_validator(mode="after")
    def _one_catalogue(self) -> Manifest:
        if bool(self.envs) == (self.catalogue is not None):
            raise ValueError("expected environments either as [[envs]] or from [catalogue], one of the two")
        return self

    def environment(self, entry: EnvTable) -> Environment:
        """What the episode machine needs to know of ``entry``, with the manifest's defaults filled in."""
        limit = entry.time_limit_s or (self.time_limit.seconds if self.time_limit else None)
        return Environment(entry.id, entry.fps or self.runtime.fps, entry.sync, limit)


def placeholders(command: list[str]) -> list[str]:
    """What stands in braces in a command's words.

    Raises:
        ValueError: a brace has no partner.
    """
    return [
        f"{name}{f'!{conversion}' if conversion else ''}{f':{spec}' if spec else ''}"
        for word in command
        for _, name, spec, conversion in string.Formatter().parse(word)
        if name is not None
    ]


def fill_command(command: list[str], entry: EnvTable, *, seed: int, fps: float) -> list[str]:
    """The command with each ``{placeholder}`` replaced.

    Raises:
        ManifestError: the environment lacks a key that the command asks for.
    """
    values: dict[str, Any] = {"env": entry.id, "seed": seed, "fps": fps}
    values |= {f"env.{key}": value for key, value in entry.model_dump().items()}
    filled: list[str] = []
    for word in command:
        parts: list[str] = []
        for literal, name, _, _ in string.Formatter().parse(word):
            parts.append(literal)
            if name is None:
                continue
            if values.get(name) is None:
                raise ManifestError(f"environment {entry.id!r} lacks the key {name!r} that program.command asks for")
            parts.append(str(values[name]))
        filled.append("".join(parts))
    return filled


def load(directory: Path) -> Manifest:
    """The manifest in ``directory``.

    Raises:
        ManifestError: it isn't there, isn't TOML, or doesn't fit; the message has a line for each problem.
    """
    path = directory / FILE_NAME
    try:
        if path.stat().st_size > MAX_MANIFEST_BYTES:
            raise ManifestError(f"{path}: over {MAX_MANIFEST_BYTES} bytes; expected a file written by hand")
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ManifestError(f"{path}: no such file; expected a runtime's folder with a {FILE_NAME} in it") from None
    except OSError as error:
        raise ManifestError(f"{path}: can't be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        # Beside its own errors, tomllib lets out those of numbers too long and of nesting too deep.
        raise ManifestError(f"{path}: not TOML: {error}") from None
    try:
        return Manifest.model_validate(document)
    except ValidationError as error:
        raise ManifestError(describe(path, error)) from None


def describe(path: Path, error: ValidationError, key_prefix: str = "") -> str:
    """A line for each problem: file, key, what was expected, what was found."""
    lines: list[str] = []
    for problem in error.errors(include_url=False):
        key = key_prefix + _key(problem["loc"])
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            message = "unknown key; is it misspelt, or in the wrong table?"
        elif problem["type"] == "missing":
            message = "missing; expected a value"
        else:
            message = f"{message[0].lower()}{message[1:]}, got {problem['input']!r:.80}"
        lines.append(f"{path}: {key or 'the file'}: {message}")
    return "\n".join(lines)


def _key(location: tuple[int | str, ...]) -> str:
    key = ""
    for part in location:
        key += f"[{part}]" if isinstance(part, int) else f".{part}" if key else part
    return key
