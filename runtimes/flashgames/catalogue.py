"""Prints every game of games.toml, and of the user's own swf/games.toml, as a JSON list of environments."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

FOLDER: Final = Path(__file__).resolve().parent

# Right of this the screen shows the metadata block; runtime.toml says where.
MAX_WIDTH: Final = 992
MAX_HEIGHT: Final = 768


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Source(_Table):
    """Where a value stands: a callback of ExternalInterface, a public static of a class, or the text of a field."""

    external: str | None = None
    static: Annotated[str, Field(pattern=r"^\w+(\.\w+)+$")] | None = None
    field: str | None = None
    pattern: str | None = None

    @model_validator(mode="after")
    def _one(self) -> Source:
        if sum(source is not None for source in (self.external, self.static, self.field)) != 1:
            raise ValueError("expected one of external, static and field")
        return self


class End(Source):
    """Where one sees that the game is over: the value is true, or what ``is`` says."""

    is_: Annotated[bool | int | float | str | None, Field(alias="is")] = None


class Step(_Table):
    click: Annotated[list[int], Field(min_length=2, max_length=2)] | None = None
    key: str | None = None
    call: str | None = None
    wait: Annotated[float, Field(gt=0, le=5)] | None = None

    @model_validator(mode="after")
    def _one(self) -> Step:
        if len(self.model_fields_set) != 1:
            raise ValueError("expected one of click, key, call and wait")
        return self


class Game(_Table):
    """A [[games]] table; README.md says what each key means."""

    id: Annotated[str, Field(pattern=r"^flashgames\.[A-Za-z0-9]+-v\d+$")]
    title: str
    swf: str
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None
    width: Annotated[int, Field(ge=16, le=MAX_WIDTH)]
    height: Annotated[int, Field(ge=16, le=MAX_HEIGHT)]
    fps: Annotated[float, Field(gt=0, le=120)]
    parameters: dict[str, str] = {}
    start: list[Step] = []
    restart: list[Step] = []
    score: Source
    over: End | None = None
    time_limit_s: Annotated[float, Field(gt=0)]
    spaces: dict[str, Any] | None = None

    def entry(self, table: Path) -> dict[str, Any]:
        """The environment as the daemon and the page want it; ``table`` is the file in which it stands."""
        file = table.parent / self.swf
        if not file.resolve().is_relative_to(FOLDER):
            raise ValueError(f"{table}: {self.id}: swf: {self.swf} is not in {table.parent}")
        read = [self.score, *([self.over] if self.over else [])]
        return {
            **self.model_dump(exclude_none=True, exclude_defaults=True, by_alias=True),
            "swf": file.relative_to(FOLDER).as_posix(),
            "file": str(file),
            "wrapped": any(source.external is None for source in read),
        }


class Games(_Table):
    games: list[Game]


def entries(table: Path) -> list[dict[str, Any]]:
    """The environments of a games.toml.

    Raises:
        ValueError: it isn't TOML, or doesn't fit; says where and why.
    """
    try:
        games = Games.model_validate(tomllib.loads(table.read_text(encoding="utf-8"))).games
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{table}: {where}: {first['msg']}, got {first['input']!r:.80}") from None
    except (OSError, ValueError) as error:
        raise ValueError(f"{table}: {error}") from None
    return [game.entry(table) for game in games]


def main() -> None:
    own = FOLDER / "swf" / "games.toml"
    tables = [FOLDER / "games.toml", *([own] if own.is_file() else [])]
    try:
        listed = [entry for table in tables for entry in entries(table)]
    except ValueError as error:
        sys.exit(str(error))
    json.dump(listed, sys.stdout)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
