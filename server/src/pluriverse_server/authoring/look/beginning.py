"""Writes the runtime.toml with which a look begins: a program or a page, and nothing that is read of it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from pluriverse_server.authoring import AuthoringError
from pluriverse_server.manifest.runtime import FILE_NAME
from pluriverse_server.sources.program.bus import SERVICES

from .toml_tables import with_element, with_table

COMMENT: Final = "Written by pluriverse-server look; docs/runtimes.md has every key."
ACCESSIBLE: Final = "accessibility: for its widgets; leave it out where no source reads them."

PAGES: Final = (".html", ".htm")


def begin(words: Sequence[str], folder: Path | None, screen: tuple[int, int]) -> Path:
    """Return the folder of the runtime to look at: that which is named, or a new one for a command or a page.

    ``words`` are the folder of a runtime, the address or file of a page, or a command with its arguments. ``folder`` is
    where the new one is written; None: a folder named after the program, here.

    Raises:
        AuthoringError: there is no such program, or a runtime in the way.
    """
    if len(words) == 1 and (Path(words[0]) / FILE_NAME).is_file():
        if folder is not None:
            raise AuthoringError(
                f"{words[0]} is a runtime already; leave --output out, what is chosen is written there"
            )
        return Path(words[0])
    name = name_of(words)
    folder = folder or Path(name)
    path = folder / FILE_NAME
    if path.exists():
        raise AuthoringError(f"{path} is there already; look at it with: pluriverse-server look {folder}")
    text = runtime_toml(re.sub(r"[^a-z0-9]+", "-", folder.absolute().name.lower()).strip("-") or name, words, screen)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise AuthoringError(f"{error.filename or path} can't be written: {error.strerror}") from error
    return folder


def name_of(words: Sequence[str]) -> str:
    """Return a runtime's id for a command or a page: ``xterm``, or of ``xterm -e /usr/games/greed`` ``greed``."""
    if is_address(words[0]):
        name = urlsplit(words[0]).hostname or "page"
    else:
        # What a terminal or an interpreter is to run says more than its own name.
        paths = [Path(word) for word in words[1:] if not word.startswith("-") and ("/" in word or Path(word).is_file())]
        name = (paths or [Path(words[0])])[0].stem
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "program"


def runtime_toml(name: str, words: Sequence[str], screen: tuple[int, int]) -> str:
    """Return the text of a runtime.toml for a page or a command.

    Raises:
        AuthoringError: there is no such program.
    """
    env_id = f"{name}.{''.join(part.capitalize() for part in name.split('-'))}-v0"
    width, height = screen
    runtime = {
        "id": name,
        "version": "0.1.0",
        "title": name.replace("-", " ").capitalize(),
        "default_env": env_id,
        "screen": {"width": width, "height": height},
    }
    text = with_table("", ("runtime",), runtime, COMMENT)
    if is_address(words[0]) or words[0].lower().endswith(PAGES):
        text = with_table(text, ("page",), _page(words[0]))
        text = with_table(text, ("reset",), {"by": "page"})
    else:
        accessible = can_list_widgets()
        program: dict[str, Any] = {"command": command_of(words), **({"accessibility": True} if accessible else {})}
        text = with_table(text, ("program",), program, ACCESSIBLE if accessible else "")
        text = with_table(text, ("reset",), {"by": "restart"})
    return with_element(text, "envs", {"id": env_id})


def is_address(word: str) -> bool:
    """Return whether a word is the address of a page."""
    return word.startswith(("http://", "https://"))


def command_of(words: Sequence[str]) -> list[str]:
    """Return the command as it works in the runtime's folder: files of this folder have their whole paths.

    Raises:
        AuthoringError: there is no such program.
    """
    program = words[0]
    if program != "python" and shutil.which(program) is None:
        raise AuthoringError(
            f"there is no program {program!r}; expected a command, the address of a page, or a runtime's folder"
        )
    files = [str(Path(word).absolute()) if Path(word).is_file() else word for word in words]
    # A brace is for what runtime.toml fills in.
    return [word.replace("{", "{{").replace("}", "}}") for word in files]


def can_list_widgets() -> bool:
    """Return whether this machine has what programs show their widgets through."""
    return shutil.which("dbus-daemon") is not None and SERVICES.is_dir()


def _page(word: str) -> dict[str, Any]:
    if is_address(word):
        return {"url": word.replace("{", "{{").replace("}", "}}")}
    path = Path(word).absolute()
    if not path.is_file():
        raise AuthoringError(f"there is no page {path}")
    return {"files": str(path.parent), "start": path.name}
