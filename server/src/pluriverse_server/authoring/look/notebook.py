"""The runtime.toml that a look writes: each choice a table with a comment, written only if the whole stays valid."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from pydantic import ValidationError

from pluriverse_server.authoring import AuthoringError
from pluriverse_server.manifest.game import GameTables
from pluriverse_server.manifest.runtime import (
    FILE_NAME,
    GameFile,
    Manifest,
    ManifestError,
    describe,
    load,
    read_document,
)
from pluriverse_server.manifest.sources import PixelSource

from .toml_tables import TableWrittenOtherwise, with_element, with_table, without_table

TEMPLATES: Final = "templates"
READERS: Final = "readers"

# What a function of a runtime's own begins with: it reads nothing until somebody writes how.
READER: Final = '''\
"""Reads a region of the screen; "Readers in Python" in docs/runtimes.md says more."""


def read(picture, previous):
    """Return the value (a number, a string, True, False, or None: nothing is there), and how sure that is, 0 to 1.

    picture: the region, uint8 of shape (height, width, 3), RGB, of NumPy; previous: the last value, None at first.
    """
    return None, 0.0
'''


class Notebook:
    """The file of one environment in a runtime's folder: runtime.toml, or its game's own file."""

    def __init__(self, folder: Path, env_id: str | None = None) -> None:
        """Raise ManifestError if the runtime can't be read, AuthoringError if it has no such environment."""
        self.folder = folder
        manifest = load(folder)
        self.env_id = env_id or manifest.runtime.default_env
        self.file = folder / FILE_NAME
        self._model: type[Manifest] | type[GameFile] = Manifest
        if manifest.games is not None:
            self.file = _game_file(folder / manifest.games, self.env_id)
            self._model = GameFile

    @property
    def text(self) -> str:
        """What is in the file."""
        return read_document(self.file)[0]

    @property
    def tables(self) -> GameTables:
        """The tables of the environment.

        Raises:
            ManifestError: somebody has made a mistake in the file meanwhile.
        """
        return self._checked(self.text)

    def add_source(
        self, name: str, table: Mapping[str, Any], comment: str, *, reward: bool, picture: bytes | None = None
    ) -> None:
        """Write ``[sources.NAME]``, in the place of one of that name, and with ``reward`` that its changes are reward.

        ``picture`` is what it looks for, as PNG. A function that is yet to be written is begun. A point that was chosen
        before keeps its colours beside the new one. Raises as ``_write`` does.
        """
        table, file = dict(table), picture
        if picture is not None:
            table["image"] = place = f"{TEMPLATES}/{name}.png"
        elif table.get("from") == "python":
            table["file"] = place = f"{READERS}/{name}.py"
            file = None if (self.folder / place).exists() else READER.encode()
        else:
            place = None
            before = self.tables.sources.get(name)
            if isinstance(before, PixelSource) and before.point == table.get("point"):
                table["colours"] = {**before.colours, **table["colours"]}

        def added(text: str) -> str:
            text = with_table(text, ("sources", name), table, comment)
            given = cast("list[dict[str, Any]]", tomllib.loads(text).get("rewards", []))
            if reward and not any(each.get("source") == name for each in given):
                text = with_element(text, "rewards", {"source": name}, f"Each change of {name} is reward.")
            return text

        if place is not None and file is not None:
            self._check(added)
            path = self.folder / place
            try:
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(file)
            except OSError as error:
                raise AuthoringError(f"{path} can't be written: {error.strerror}") from error
        self._write(added)

    def remove_source(self, name: str) -> None:
        """Remove ``[sources.NAME]``; raises as ``_write`` does, as where a reward needs it."""
        self._write(lambda text: without_table(text, ("sources", name)))

    def set_keys(self, table: str, values: Mapping[str, Any], comment: str = "") -> None:
        """Set keys of ``[table]``, and keep its others; None removes one. Raises as ``_write`` does."""

        def changed(text: str) -> str:
            before = cast("dict[str, Any]", tomllib.loads(text).get(table, {}))
            after = {key: value for key, value in {**before, **values}.items() if value is not None}
            return with_table(text, (table,), after, comment)

        self._write(changed)

    def add_page_reward(self, expression: str, comment: str) -> None:
        """Write that each change of a JavaScript expression of the page is reward. Raises as ``_write`` does."""
        self._write(lambda text: with_element(text, "rewards", {"source": "page", "value": expression}, comment))

    def set_steps(self, steps: Sequence[Mapping[str, Any]], *, by: str, comment: str) -> None:
        """Write the steps that lead to an episode. Raises as ``_write`` does."""
        self.set_keys("reset", {"by": by, "steps": [dict(step) for step in steps] or None}, comment)

    def _check(self, change: Callable[[str], str]) -> str:
        try:
            text = change(self.text)
        except TableWrittenOtherwise as error:
            raise AuthoringError(f"{self.file}: {error}") from error
        try:
            self._checked(text)
        except ManifestError as error:
            raise AuthoringError(f"not written: {error}") from error
        return text

    def _write(self, change: Callable[[str], str]) -> None:
        """Write the changed text.

        Raises:
            AuthoringError: it would be no valid runtime, or can't be written.
            ManifestError: it isn't one now.
        """
        text = self._check(change)
        new = self.file.with_name(f".{self.file.name}.new")
        try:
            new.write_text(text, encoding="utf-8")
            os.replace(new, self.file)  # noqa: PTH105 - the same
        except OSError as error:
            raise AuthoringError(f"{self.file} can't be written: {error.strerror}") from error

    def _checked(self, text: str) -> GameTables:
        try:
            return self._model.model_validate(tomllib.loads(text))
        except ValidationError as error:
            raise ManifestError(describe(self.file, error)) from None
        except tomllib.TOMLDecodeError as error:
            raise ManifestError(f"{self.file}: not TOML: {error}") from None


def _game_file(games: Path, env_id: str) -> Path:
    for path in sorted(games.glob("*.toml")):
        if read_document(path)[1].get("env", {}).get("id") == env_id:
            return path
    raise AuthoringError(f"no file in {games} has the environment {env_id!r}; name one with --env")
