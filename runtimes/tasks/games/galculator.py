"""Tasks for a calculator and an editor, side by side."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from hands import press, wait, write
from pluriverse_server.kit import Look, Task


class WriteSum(Task):
    words = "Work out {sum} with the calculator, write the result into answer.txt, and save it."

    def setup(self, rng: Random, home: Path) -> dict[str, Any]:
        numbers = [rng.randrange(100, 10_000) for _ in range(3)]
        return {"sum": " + ".join(map(str, numbers)), "wanted": str(sum(numbers))}

    def check(self, p: dict[str, Any], look: Look) -> float:
        answer = look.home / "answer.txt"
        return float(answer.exists() and answer.read_text().strip() == p["wanted"])

    def oracle(self, p: dict[str, Any], computer: Any) -> None:
        write(computer, f"{p['wanted']}")
        press(computer, "ctrl+s")
        wait(computer)

    def trap_question(self, p: dict[str, Any], home: Path) -> None:
        (home / "answer.txt").write_text(p["sum"])
