"""Tasks in vim: what is in its file when that was written."""

from __future__ import annotations

from random import Random
from typing import Any

from edits import Edit, Texts, joined
from hands import press, wait, write
from words import GOODS, line, lines


class _Vim(Edit):
    def command(self, p: dict[str, Any]) -> str:
        """Return what is typed in vim's normal mode; by default the text anew."""
        return f":%d\ni{joined(p['wanted'])[:-1]}\x1b"

    def oracle(self, p: dict[str, Any], computer: Any) -> None:
        press(computer, "Escape")
        write(computer, f"{self.command(p)}:w\n")
        wait(computer)


class VimSubstituteRange(_Vim):
    words = "In lines {first} to {last} of {file}, replace {old} by {new}; leave the other lines alone. Write the file."
    difficulty = 2

    def change(self, rng: Random) -> Texts:
        old, new, *others = line(rng, 9).split()
        text = [" ".join([old, *rng.sample(others, 3)]) for _ in range(10)]
        first, last = rng.randrange(2, 5), rng.randrange(6, 9)
        wanted = [each.replace(old, new) if first <= at <= last else each for at, each in enumerate(text, 1)]
        more = {"old": old, "new": new, "first": first, "last": last}
        return text, wanted, [each.replace(old, new) for each in text], more

    def command(self, p: dict[str, Any]) -> str:
        return f":{p['first']},{p['last']}s/{p['old']}/{p['new']}/g\n"


class VimDeleteMatching(_Vim):
    words = "Delete all lines of {file} that have the word {word} in them, and write the file."

    def change(self, rng: Random) -> Texts:
        sought, *others = line(rng, 12).split()
        text = [" ".join([*rng.sample(others, 3), *([sought] if at % 3 else [])]) for at in range(12)]
        rng.shuffle(text)
        wanted, wrong = ([each for each in text if (sought in each) == kept] for kept in (False, True))
        return text, wanted, wrong, {"word": sought}

    def command(self, p: dict[str, Any]) -> str:
        return f":g/{p['word']}/d\n"


class VimReverse(_Vim):
    words = "Turn the order of the lines of {file} round, the last line first, and write the file."
    split = "test"

    def change(self, rng: Random) -> Texts:
        text = lines(rng, rng.randrange(7, 11), 3)
        wanted = text[::-1]
        return text, wanted, sorted(text) if sorted(text) != wanted else text, {}

    def command(self, p: dict[str, Any]) -> str:
        return ":g/^/m0\n"


class VimJoin(_Vim):
    words = "Join all lines of {file} into one, with a space between them, and write the file."

    def change(self, rng: Random) -> Texts:
        text = lines(rng, rng.randrange(5, 9), 2)
        return text, [" ".join(text)], ["".join(text)], {}

    def command(self, p: dict[str, Any]) -> str:
        return ":%j\n"


class VimFirstWords(_Vim):
    words = "Delete the first word of each line of {file}, with the space after it, and write the file."

    def change(self, rng: Random) -> Texts:
        text = lines(rng, 9, 4)
        wanted = [each.split(" ", 1)[1] for each in text]
        return text, wanted, [f" {each}" for each in wanted], {}


class VimCopyLine(_Vim):
    words = "Copy line {number} of {file} to the end of the file, and write it."

    def change(self, rng: Random) -> Texts:
        text = lines(rng, 8)
        at = rng.randrange(1, 7)
        return text, [*text, text[at - 1]], text[: at - 1] + text[at:] + [text[at - 1]], {"number": at}

    def command(self, p: dict[str, Any]) -> str:
        return f":{p['number']}t$\n"


class VimQuote(_Vim):
    words = 'Put each line of {file} between double quotes with a comma after them, as in "salt", and write the file.'

    def change(self, rng: Random) -> Texts:
        goods = rng.sample(GOODS, rng.randrange(6, 10))
        return goods, [f'"{each}",' for each in goods], [f'"{each},"' for each in goods], {}
