"""The runtime.toml that ``look`` begins and writes sources into; it stays as a person wrote it, and valid."""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import tomlkit
from pluriverse_server.manifest.runtime import (
    FILE_NAME,
    GameFile,
    Manifest,
    ManifestError,
    describe,
    load,
    read_document,
)
from pydantic import ValidationError
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from . import AuthoringError

TEMPLATES: Final = "templates"
PAGES: Final = (".html", ".htm")


class RuntimeFile:
    """The file of one environment in a runtime's folder: runtime.toml, or its game's own file."""

    def __init__(self, folder: Path, env_id: str | None = None) -> None:
        """Raise ManifestError if the runtime can't be read, AuthoringError if it has no such environment."""
        self.folder = folder
        manifest = load(folder)
        self.env_id = env_id or manifest.runtime.default_env
        self._path = folder / FILE_NAME
        self._model: type[Manifest] | type[GameFile] = Manifest
        if manifest.games is not None:
            self._path = _game_file(folder / manifest.games, self.env_id)
            self._model = GameFile

    def check(self) -> None:
        """Raise ManifestError if the file has mistakes."""
        self._check(read_document(self._path)[0])

    def add_source(self, name: str, table: Mapping[str, Any], *, reward: bool, picture: bytes) -> None:
        """Write ``[sources.NAME]``, in the place of one of that name, and with ``reward`` that its changes are reward.

        ``picture`` is what a template looks for, as PNG.
        """
        table = dict(table)
        image = self.folder / TEMPLATES / f"{name}.png" if table.get("read") == "template" else None
        if image is not None:
            table["image"] = f"{TEMPLATES}/{name}.png"
        document = tomlkit.parse(read_document(self._path)[0])
        try:
            sources = document.setdefault("sources", tomlkit.table(is_super_table=True))
            sources[name] = _table(table)
            rewards = document.setdefault("rewards", tomlkit.aot())
            if reward and not any(each.get("source") == name for each in rewards):
                rewards.append(_table({"source": name}))
            if not rewards:
                del document["rewards"]
            text = document.as_string()
            self._check(text)
        except (ManifestError, TOMLKitError) as error:
            raise AuthoringError(f"not written: {error}") from error
        try:
            if image is not None:
                image.parent.mkdir(exist_ok=True)
                image.write_bytes(picture)
            new = self._path.with_name(f".{self._path.name}.new")
            new.write_text(text, encoding="utf-8")
            new.replace(self._path)
        except OSError as error:
            raise AuthoringError(f"{error.filename} can't be written: {error.strerror}") from error

    def _check(self, text: str) -> None:
        try:
            self._model.model_validate(tomllib.loads(text))
        except ValidationError as error:
            raise ManifestError(describe(self._path, error)) from None
        except tomllib.TOMLDecodeError as error:
            raise ManifestError(f"{self._path}: not TOML: {error}") from None


def _table(values: Mapping[str, Any]) -> Table:
    table = tomlkit.table()
    for key, value in values.items():
        table.add(key, value)
    table.add(tomlkit.nl())
    return table


def _game_file(games: Path, env_id: str) -> Path:
    for path in sorted(games.glob("*.toml")):
        if read_document(path)[1].get("env", {}).get("id") == env_id:
            return path
    raise AuthoringError(f"no file in {games} has the environment {env_id!r}; name one with --env")


def begin(words: Sequence[str], folder: Path | None, screen: tuple[int, int]) -> Path:
    """Return the folder of the runtime to look at: that which is named, or a new one for a command or a page.

    ``words`` are the folder of a runtime, the address or file of a page, or a command with its arguments. ``folder`` is
    where the new one is written; None: a folder named after the program, here.
    """
    if folder is None and len(words) == 1 and (Path(words[0]) / FILE_NAME).is_file():
        return Path(words[0])
    folder = folder or Path(_name_of(words))
    path = folder / FILE_NAME
    if path.exists():
        raise AuthoringError(f"{path} already exists; look at it with: pluriverse-server look {folder}")
    text = _runtime_toml(_as_id(folder.absolute().name) or _name_of(words), words, screen)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise AuthoringError(f"{error.filename or path} can't be written: {error.strerror}") from error
    return folder


def _as_id(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40]


def _name_of(words: Sequence[str]) -> str:
    """Return a runtime's id for a command or a page: ``xterm``, or of ``xterm -e /usr/games/greed`` ``greed``."""
    if _is_address(words[0]):
        return _as_id(urlsplit(words[0]).hostname or "page")
    # The command of a terminal or an interpreter is more informative than its own name.
    paths = [Path(word) for word in words[1:] if not word.startswith("-") and ("/" in word or Path(word).is_file())]
    return _as_id((paths or [Path(words[0])])[0].stem) or "program"


def _runtime_toml(name: str, words: Sequence[str], screen: tuple[int, int]) -> str:
    env_id = f"{name}.{''.join(part.capitalize() for part in name.split('-'))}-v0"
    runtime = {"id": name, "version": "0.1.0", "title": name.replace("-", " ").capitalize(), "default_env": env_id}
    size = {"width": screen[0], "height": screen[1]}
    tables: dict[str, Any] = {"runtime": {**runtime, "screen": size}}
    if _is_address(words[0]) or words[0].lower().endswith(PAGES):
        tables |= {"page": _page(words[0]), "reset": {"by": "page"}}
    else:
        tables |= {"program": {"command": _command_of(words)}, "reset": {"by": "restart"}}
    document = tomlkit.document()
    for name, table in {**tables, "envs": [{"id": env_id}]}.items():
        document[name] = table
    return document.as_string()


def _is_address(word: str) -> bool:
    return word.startswith(("http://", "https://"))


def _command_of(words: Sequence[str]) -> list[str]:
    """Return the command as it works in the runtime's folder: files of this folder have their whole paths."""
    if words[0] != "python" and shutil.which(words[0]) is None:
        raise AuthoringError(
            f"no program {words[0]!r}; expected a command, the address of a page, or a runtime's folder"
        )
    return [_literal(str(Path(word).absolute()) if Path(word).is_file() else word) for word in words]


def _page(word: str) -> dict[str, Any]:
    if _is_address(word):
        return {"url": _literal(word)}
    path = Path(word).absolute()
    if not path.is_file():
        raise AuthoringError(f"no page {path}")
    return {"files": str(path.parent), "start": path.name}


def _literal(text: str) -> str:
    """Escape braces, which are for what runtime.toml fills in."""
    return text.replace("{", "{{").replace("}", "}}")
