"""Tasks with a file manager on the left and a text on the right."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from beside import LEFT, Answer, Letter, Parameters, make_files
from edits import has
from hands import click, press, wait, write
from pluriverse_server.kit import Look
from words import line, word


class FolderOnlyFile(Answer):
    words = "Look what the only file in the folder {folder} is called, write its name into {file}, and save that."

    def find(self, rng: Random, home: Path) -> tuple[str, str, Parameters]:
        folder, other, name, wrong = line(rng, 4).split()
        for place, each in ((folder, name), (other, wrong)):
            (home / place).mkdir()
            (home / place / f"{each}.txt").touch()
        return f"{name}.txt", f"{wrong}.txt", {"folder": folder}


class FolderCount(Answer):
    words = "Write into {file} how many files the folder {folder} has, as a number alone, and save that."

    def find(self, rng: Random, home: Path) -> tuple[str, str, Parameters]:
        folder, count = word(rng), rng.randrange(5, 30)
        make_files(rng, home / folder, count)
        return str(count), str(count - 1), {"folder": folder}


class _Asked(Letter):
    """The letter asks for a file to get another name or place: from ``old`` to ``new``, below HOME."""

    def ask(self, rng: Random, home: Path) -> tuple[list[str], Parameters]:
        (home / "box").mkdir()
        names = [f"{each}.txt" for each in line(rng, 5).split()]
        for name in names[:4]:
            (home / name).write_text(name)
        more = self.move(names)
        return ["Dear friend,", "", more.pop("letter"), "", "Thank you!"], {**more, "kept": names[1:4]}

    def move(self, names: list[str]) -> Parameters:
        raise NotImplementedError

    def check(self, p: Parameters, look: Look) -> float:
        moved = not (look.home / p["old"]).exists() and has(look.home / p["new"], p["old"])
        return float(moved and all(has(look.home / name, name) for name in p["kept"]))

    def trap_copied(self, p: Parameters, home: Path) -> None:
        (home / p["new"]).write_text(p["old"])


def _select(computer: Any, name: str) -> None:
    write(computer, name)
    wait(computer, 0.3)
    press(computer, "Escape")


class FolderRenameAsked(_Asked):
    words = "Do in the file manager what {file} asks for."

    def move(self, names: list[str]) -> Parameters:
        old, new = names[0], f"new-{names[4]}"
        return {"letter": f"please rename {old} to {new}.", "old": old, "new": new}

    def oracle(self, p: Parameters, computer: Any) -> None:
        wait(computer, 2.0)
        click(computer, *LEFT)
        _select(computer, p["old"])
        press(computer, "F2")
        wait(computer)
        press(computer, "ctrl+a")
        write(computer, f"{p['new']}\n")
        wait(computer)


class FolderMoveAsked(_Asked):
    words = "{file} asks for a file to be put somewhere else. Do that in the file manager."
    split = "test"

    def move(self, names: list[str]) -> Parameters:
        return {"letter": f"please move {names[0]} to the folder box.", "old": names[0], "new": f"box/{names[0]}"}

    def oracle(self, p: Parameters, computer: Any) -> None:
        wait(computer, 2.0)
        click(computer, *LEFT)
        _select(computer, p["old"])
        press(computer, "ctrl+x")
        _select(computer, "box")
        press(computer, "Return")
        wait(computer)
        press(computer, "ctrl+v")
        wait(computer)
