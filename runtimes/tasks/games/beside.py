"""What tasks have in common that are done with Mousepad and another program beside it."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from edits import has, joined, retype
from hands import click, wait
from pluriverse_server.kit import Look, Task

Parameters = dict[str, Any]

LEFT, RIGHT = (256, 500), (760, 500)


def make_files(rng: Random, folder: Path, count: int) -> None:
    """Make a folder of so many empty files, whose names are numbers."""
    folder.mkdir()
    for name in rng.sample(range(1000), count):
        (folder / f"{name}.dat").touch()


class Answer(Task):
    """Something is found out in the program on the left, and is written down in answer.txt."""

    def find(self, rng: Random, home: Path) -> tuple[str, str, Parameters]:
        """Make what the program opens; return the answer, a wrong one, and more parameters."""
        raise NotImplementedError

    def setup(self, rng: Random, home: Path) -> Parameters:
        answer, wrong, more = self.find(rng, home)
        (home / "answer.txt").write_text("")
        return {"file": "answer.txt", "answer": answer, "wrong": wrong, **more}

    def check(self, p: Parameters, look: Look) -> float:
        return float(has(look.home / "answer.txt", p["answer"]))

    def oracle(self, p: Parameters, computer: Any) -> None:
        wait(computer, 2.0)
        click(computer, *RIGHT)
        retype(computer, p["answer"].split("\n"))

    def trap_wrong(self, p: Parameters, home: Path) -> None:
        (home / "answer.txt").write_text(f"{p['wrong']}\n")


class Letter(Task):
    """A letter on the right, letter.txt, says what is to be done in the program on the left."""

    def ask(self, rng: Random, home: Path) -> tuple[list[str], Parameters]:
        """Make what the program opens; return the letter's lines and more parameters."""
        raise NotImplementedError

    def setup(self, rng: Random, home: Path) -> Parameters:
        lines, more = self.ask(rng, home)
        (home / "letter.txt").write_text(joined(lines))
        return {"file": "letter.txt", **more}
