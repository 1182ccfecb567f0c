"""Tasks with a workbook on the left and a text on the right."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from beside import LEFT, Answer, Letter, Parameters
from edits import joined
from hands import click, press, wait, write
from pluriverse_server.kit import Look
from sheets import Rows, prices, read_sheet, write_sheet


class _Book(Answer):
    def ask(self, rng: Random, rows: Rows) -> tuple[str, str, Parameters]:
        raise NotImplementedError

    def find(self, rng: Random, home: Path) -> tuple[str, str, Parameters]:
        rows = prices(rng)
        write_sheet(home / "book.xlsx", rows)
        return self.ask(rng, rows)


class BookPrice(_Book):
    words = "Look up the price of {what} in the workbook, write it into {file} as a number alone, and save that."

    def ask(self, rng: Random, rows: Rows) -> tuple[str, str, Parameters]:
        what, count, price = rng.choice(rows[1:])
        return str(price), str(count), {"what": what}


class BookTotal(_Book):
    words = "Add up the counts in the workbook (column B), write the sum into {file} as a number alone, and save that."

    def ask(self, rng: Random, rows: Rows) -> tuple[str, str, Parameters]:
        counts, others = (sum(int(row[at]) for row in rows[1:]) for at in (1, 2))
        return str(counts), str(others + (counts == others)), {}


class BookCheapest(_Book):
    words = "Find what has the lowest price in the workbook, write its name into {file}, and save that."
    split = "test"

    def ask(self, rng: Random, rows: Rows) -> tuple[str, str, Parameters]:
        ordered = sorted(rows[1:], key=lambda row: int(row[2]))
        return str(ordered[0][0]), str(ordered[1][0]), {}


class BookCopyColumn(_Book):
    words = "Write the names of all goods of the workbook into {file}, each on a line of its own, and save that."

    def ask(self, rng: Random, rows: Rows) -> tuple[str, str, Parameters]:
        names = [str(row[0]) for row in rows[1:]]
        return joined(names)[:-1], " ".join(names), {}


class BookCorrect(Letter):
    words = "{file} says what is wrong in the workbook. Correct that, and save the workbook."
    difficulty = 2

    def ask(self, rng: Random, home: Path) -> tuple[list[str], Parameters]:
        rows = prices(rng)
        write_sheet(home / "book.xlsx", rows)
        at, price = rng.randrange(1, len(rows)), rng.randrange(100, 1000)
        wanted, wrong = ([[*row] for row in rows] for _ in range(2))
        wanted[at][2] = wrong[at][1] = price
        letter = ["Hello,", "", f"the price of {rows[at][0]} is {price} now.", "", "Thank you!"]
        return letter, {"at": at, "price": price, "wanted": wanted, "wrong": wrong}

    def check(self, p: Parameters, look: Look) -> float:
        return float(read_sheet(look.home / "book.xlsx").rows() == p["wanted"])

    def oracle(self, p: Parameters, computer: Any) -> None:
        wait(computer, 2.0)
        click(computer, *LEFT)
        press(computer, "ctrl+Home", *["Down"] * p["at"], "Right", "Right")
        write(computer, f"{p['price']}\n")
        press(computer, "ctrl+s")
        wait(computer, 1.0)

    def trap_count(self, p: Parameters, home: Path) -> None:
        write_sheet(home / "book.xlsx", p["wrong"])
