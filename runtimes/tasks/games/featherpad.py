"""Tasks in FeatherPad, an editor of Qt's: what is in its file when that was saved."""

from __future__ import annotations

from random import Random

from edits import Edit, Texts
from words import GOODS, NAMES, WORDS, line, lines, word


class FeatherpadSortReversed(Edit):
    words = "Sort the lines of {file} from z to a, and save the file."

    def change(self, rng: Random) -> Texts:
        text = lines(rng, 8, 3)
        ordered = sorted(text)
        text = text if text not in (ordered, ordered[::-1]) else [*text[1:], text[0]]
        return text, ordered[::-1], ordered, {}


class FeatherpadUpperCase(Edit):
    words = "Put all of {file} in capital letters, and save the file."

    def change(self, rng: Random) -> Texts:
        text = lines(rng, 5)
        wanted = [each.upper() for each in text]
        return text, wanted, [*wanted[:-1], text[-1]], {}


class FeatherpadMoveToTop(Edit):
    words = 'Move the line of {file} that ends with "{last}" to the top, and save the file.'

    def change(self, rng: Random) -> Texts:
        *others, last = line(rng, 20).split()
        text = [" ".join(rng.sample(others, 4)) for _ in range(7)]
        at = rng.randrange(2, 7)
        text[at] += f" {last}"
        rest = text[:at] + text[at + 1 :]
        return text, [text[at], *rest], [text[at], *text], {"last": last}


class FeatherpadInsertLine(Edit):
    words = 'Insert the line "{line}" between lines {number} and {next} of {file}, and save the file.'

    def change(self, rng: Random) -> Texts:
        *text, new = lines(rng, 9)
        at = rng.randrange(2, 7)
        wanted, wrong = ([*text[:place], new, *text[place:]] for place in (at, at + 1))
        return text, wanted, wrong, {"line": new, "number": at, "next": at + 1}


class FeatherpadOnePerLine(Edit):
    words = "{file} is a list with commas. Write each of its goods on a line of its own, without commas. Save the file."
    split = "test"

    def change(self, rng: Random) -> Texts:
        goods = rng.sample(GOODS, rng.randrange(5, 9))
        return [", ".join(goods)], goods, [f"{each}," for each in goods], {}


class FeatherpadShoppingList(Edit):
    words = "In {file}, put an x between the brackets of {one} and of {other}, as in [x], and save the file."

    def change(self, rng: Random) -> Texts:
        goods = rng.sample(GOODS, 8)
        one, other, third = rng.sample(goods, 3)
        text, wanted, wrong = (
            [f"[{'x' if each in done else ' '}] {each}" for each in goods]
            for done in ((), (one, other), (one, other, third))
        )
        return text, wanted, wrong, {"one": one, "other": other}


class FeatherpadTypos(Edit):
    words = (
        "{file} has the name {name} in it, at times with two letters the wrong way round. Correct that, and save it."
    )
    split = "test"
    difficulty = 2

    def change(self, rng: Random) -> Texts:
        name = rng.choice([each for each in NAMES if len(each) > 4])
        typo = name[0] + name[2] + name[1] + name[3:]
        whole = [f"{rng.choice((name, typo))} {line(rng, 3)}" for _ in range(5)] + [f"{typo} {word(rng)}"]
        wanted = [each.replace(typo, name) for each in whole]
        return whole, wanted, [each.replace(name, typo) for each in whole], {"name": name}


class FeatherpadLetter(Edit):
    words = "{file} is a letter to {old}. Make it one to {new}, from {sender}, and save it."

    def change(self, rng: Random) -> Texts:
        old, new, sender, before = rng.sample(NAMES, 4)
        thing = rng.choice(WORDS)

        def letter(to: str, by: str) -> list[str]:
            return [f"Dear {to},", "", f"thank you for the {thing}.", f"You are a friend, {to}.", "", by]

        return letter(old, before), letter(new, sender), letter(new, before), {"old": old, "new": new, "sender": sender}
