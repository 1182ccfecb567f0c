"""Tasks in Mousepad: what is in its files when they were saved."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from edits import Edit, Texts, has, joined, retype
from hands import press, save_as, wait, write
from pluriverse_server.kit import Look
from words import GOODS, NAMES, file, line, lines, word


class MousepadAppendLine(Edit):
    words = 'Add the line "{line}" at the end of {file}, and save the file.'

    def change(self, rng: Random) -> Texts:
        *text, new = lines(rng, rng.randrange(4, 9))
        return text, [*text, new], [new, *text], {"line": new}

    def oracle(self, p: dict[str, Any], computer: Any) -> None:
        press(computer, "ctrl+End")
        write(computer, p["line"])
        press(computer, "ctrl+s")
        wait(computer)

    def trap_not_saved(self, p: dict[str, Any], computer: Any) -> None:
        press(computer, "ctrl+End")
        write(computer, p["line"])


class MousepadReplaceWord(Edit):
    words = 'Replace every "{old}" by "{new}" in {file}, and save the file.'
    difficulty = 2

    def change(self, rng: Random) -> Texts:
        old, new, *others = line(rng, 8).split()
        text = [" ".join(rng.choices([old, *others], k=6)) for _ in range(6)] + [f"{old} {others[0]}"]
        wanted = [each.replace(old, new) for each in text]
        return text, wanted, [*wanted[:-1], text[-1]], {"old": old, "new": new}


class MousepadDeleteLine(Edit):
    words = "Delete line {number} of {file}, and save the file."

    def change(self, rng: Random) -> Texts:
        text = lines(rng, 12)
        number = rng.randrange(3, 11)
        wanted, wrong = (text[:at] + text[at + 1 :] for at in (number - 1, number))
        return text, wanted, wrong, {"number": number}

    def oracle(self, p: dict[str, Any], computer: Any) -> None:
        press(computer, *["Down"] * (p["number"] - 1), "shift+Down", "Delete", "ctrl+s")
        wait(computer)


class MousepadUppercaseLine(Edit):
    words = 'Put the line of {file} that begins with "{first}" in capital letters, and save the file.'

    def change(self, rng: Random) -> Texts:
        text = lines(rng, 8)
        at = rng.randrange(8)
        wanted = [each.upper() if number == at else each for number, each in enumerate(text)]
        first = text[at].split()[0]
        wrong = [each.replace(first, first.upper()) for each in text]
        return text, wanted, wrong, {"first": first}


class MousepadSortLines(Edit):
    words = "Sort the names in {file} alphabetically, and save the file."
    difficulty = 2

    def change(self, rng: Random) -> Texts:
        names = rng.sample(NAMES, 9)
        names = names if names != sorted(names) else names[::-1]
        return names, sorted(names), sorted(names, reverse=True), {}


class MousepadSwapLines(Edit):
    words = "Let lines {one} and {other} of {file} change places, and save the file."

    def change(self, rng: Random) -> Texts:
        text = lines(rng, 9)
        one, other = sorted(rng.sample(range(1, 9), 2))
        wanted, wrong = [*text], [*text]
        wanted[one - 1], wanted[other - 1] = text[other - 1], text[one - 1]
        wrong[one], wrong[other] = text[other], text[one]
        return text, wanted, wrong, {"one": one, "other": other}


class MousepadRemoveDuplicates(Edit):
    words = "In {file} some lines occur twice. Keep only the first of each, in their order, and save the file."
    split = "test"
    difficulty = 2

    def change(self, rng: Random) -> Texts:
        text = lines(rng, 7, 3)
        twice = [text[at] for at in sorted(rng.sample(range(6), 3))]
        return [*text, *twice], text, text[::-1], {}


class MousepadTotal(Edit):
    words = 'Add a last line to {file}, "total" and the sum of its prices with a space between them, and save the file.'
    difficulty = 2

    def change(self, rng: Random) -> Texts:
        prices = [rng.randrange(2, 60) for _ in range(6)]
        text = [f"{what} {price}" for what, price in zip(rng.sample(GOODS, 6), prices, strict=True)]
        wanted, wrong = ([*text, f"total {sum(prices) + more}"] for more in (0, 1))
        return text, wanted, wrong, {}


class MousepadNumberLines(Edit):
    words = 'Number the lines of {file}: "1. " before the first, "2. " before the second and so on. Save the file.'

    def change(self, rng: Random) -> Texts:
        text = lines(rng, rng.randrange(6, 11), 3)
        wanted, wrong = ([f"{at}. {each}" for at, each in enumerate(text, start)] for start in (1, 0))
        return text, wanted, wrong, {}


class MousepadStripSpaces(Edit):
    words = "Remove the spaces at the ends of the lines of {file}, and nothing else. Save the file."
    split = "test"

    def change(self, rng: Random) -> Texts:
        wanted = ["  " * rng.randrange(3) + each for each in lines(rng, 8)]
        text = [each + " " * rng.randrange(1, 4) for each in wanted]
        return text, wanted, [each.strip() for each in wanted[:-1]] + [f" {wanted[-1].strip()}"], {}


class MousepadDosLineEnds(Edit):
    words = "Save {file} with line ends of DOS and Windows (CR LF)."
    difficulty = 2

    def change(self, rng: Random) -> Texts:
        text = lines(rng, 6)
        return text, text, [f"{each}\r" for each in text[1:]], {}

    def check(self, p: dict[str, Any], look: Look) -> float:
        return float(has(look.home / p["file"], "".join(f"{each}\r\n" for each in p["wanted"])))

    def oracle(self, p: dict[str, Any], computer: Any) -> None:
        press(computer, "alt+d", *["Down"] * 4, "Right", "Down", "Down", "Return", "ctrl+s")
        wait(computer)


class MousepadSaveAs(Edit):
    words = 'Save a copy of {file} as {copy}, with the line "{line}" at its end. {file} stays as it is.'
    split = "test"
    difficulty = 2

    def change(self, rng: Random) -> Texts:
        *text, new = lines(rng, 6)
        return text, text, [*text, new], {"line": new, "copy": f"{word(rng)}-copy.txt"}

    def check(self, p: dict[str, Any], look: Look) -> float:
        kept = has(look.home / p["file"], joined(p["wanted"]))
        return float(kept and has(look.home / p["copy"], joined(p["wrong"])))

    def oracle(self, p: dict[str, Any], computer: Any) -> None:
        press(computer, "ctrl+shift+s")
        save_as(computer, p["copy"])
        retype(computer, p["wrong"])

    def trap_copied(self, p: dict[str, Any], home: Path) -> None:
        (home / p["copy"]).write_text(joined(p["wanted"]))


class MousepadNewFile(Edit):
    words = "Make a new file, {new}, whose only line is the longest one of {file}. {file} stays as it is."
    difficulty = 2

    def change(self, rng: Random) -> Texts:
        text = [line(rng, words) for words in rng.sample(range(2, 6), 4)] + [line(rng, 7)]
        rng.shuffle(text)
        longest, shortest = max(text, key=len), min(text, key=len)
        return text, [longest], [shortest], {"new": file(rng, "md"), "text": text}

    def check(self, p: dict[str, Any], look: Look) -> float:
        kept = has(look.home / p["file"], joined(p["text"]))
        return float(kept and has(look.home / p["new"], joined(p["wanted"])))

    def oracle(self, p: dict[str, Any], computer: Any) -> None:
        press(computer, "ctrl+n")
        wait(computer)
        write(computer, p["wanted"][0])
        press(computer, "ctrl+s")
        save_as(computer, p["new"])

    def trap_wrong(self, p: dict[str, Any], home: Path) -> None:
        (home / p["new"]).write_text(joined(p["wrong"]))
