"""The tasks of all editors: a text, what is to become of it, and what looks like that and isn't."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from hands import press, wait, write
from pluriverse_server.kit import Look, Task
from words import file

Texts = tuple[list[str], list[str], list[str], dict[str, Any]]
"""The lines of a file, those that are wanted, others that are wrong, and more parameters."""


class Edit(Task):
    """One file is changed, and saved."""

    def change(self, rng: Random) -> Texts:
        raise NotImplementedError

    def setup(self, rng: Random, home: Path) -> dict[str, Any]:
        before, wanted, wrong, more = self.change(rng)
        name = file(rng)
        (home / name).write_text(joined(before))
        return {"file": name, "wanted": wanted, "wrong": wrong, **more}

    def check(self, p: dict[str, Any], look: Look) -> float:
        return float(has(look.home / p["file"], joined(p["wanted"])))

    def oracle(self, p: dict[str, Any], computer: Any) -> None:
        retype(computer, p["wanted"])

    def trap_wrong(self, p: dict[str, Any], home: Path) -> None:
        (home / p["file"]).write_text(joined(p["wrong"]))


def joined(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def has(path: Path, text: str) -> bool:
    """Return whether a file has this text, but for its end."""
    return path.is_file() and path.read_bytes().decode(errors="replace").rstrip("\n") == text.rstrip("\n")


def retype(computer: Any, lines: list[str]) -> None:
    """Write the whole text anew, and save it."""
    press(computer, "ctrl+a")
    write(computer, joined(lines))
    press(computer, "ctrl+s")
    wait(computer)
