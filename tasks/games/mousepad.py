"""Tasks in an editor: what is in its file when it was saved."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from hands import press, wait, write
from pluriverse_server.kit import Look, Task

WORDS = [
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "heron",
    "ivory",
    "jetty",
    "kayak",
    "lemon",
    "maple",
    "north",
    "ocean",
    "pearl",
]


class AppendLine(Task):
    words = 'Add the line "{line}" at the end of {file}, and save the file.'

    def setup(self, rng: Random, home: Path) -> dict[str, Any]:
        line, *text = [" ".join(rng.sample(WORDS, 4)) for _ in range(rng.randrange(4, 9))]
        file = f"{rng.choice(WORDS)}.txt"
        (home / file).write_text("\n".join(text) + "\n")
        return {"line": line, "file": file, "wanted": [*text, line]}

    def check(self, p: dict[str, Any], look: Look) -> float:
        return float((look.home / p["file"]).read_text().splitlines() == p["wanted"])

    def oracle(self, p: dict[str, Any], computer: Any) -> None:
        press(computer, "ctrl+End")
        write(computer, f"{p['line']}\n")
        press(computer, "ctrl+s")
        wait(computer)

    def trap_first(self, p: dict[str, Any], home: Path) -> None:
        *text, line = p["wanted"]
        (home / p["file"]).write_text("\n".join([line, *text]) + "\n")

    def trap_not_saved(self, p: dict[str, Any], computer: Any) -> None:
        press(computer, "ctrl+End")
        write(computer, f"{p['line']}\n")


class ReplaceWord(Task):
    words = 'Replace every "{old}" by "{new}" in {file}, and save the file.'
    difficulty = 2

    def setup(self, rng: Random, home: Path) -> dict[str, Any]:
        old, new, file, *others = rng.sample(WORDS, 7)
        text = [" ".join(rng.choices([old, *others], k=6)) for _ in range(6)] + [f"{old} {others[0]}"]
        (home / f"{file}.txt").write_text("\n".join(text) + "\n")
        wanted = [line.replace(old, new) for line in text]
        return {"old": old, "new": new, "file": f"{file}.txt", "wanted": wanted}

    def check(self, p: dict[str, Any], look: Look) -> float:
        return float((look.home / p["file"]).read_text().splitlines() == p["wanted"])

    def oracle(self, p: dict[str, Any], computer: Any) -> None:
        press(computer, "ctrl+a")
        write(computer, "".join(f"{line}\n" for line in p["wanted"]))
        press(computer, "ctrl+s")
        wait(computer)

    def trap_one_left(self, p: dict[str, Any], home: Path) -> None:
        text = "\n".join(p["wanted"]) + "\n"
        (home / p["file"]).write_text(text.replace(p["new"], p["old"], 1))
