"""Tasks in nano, an editor in a terminal: what is in its file when that was written."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from edits import Edit, Texts, has, joined
from hands import press, wait, write
from pluriverse_server.kit import Look
from words import WORDS, file, line, lines, word


class _Nano(Edit):
    def oracle(self, p: dict[str, Any], computer: Any) -> None:
        press(computer, "Escape", "t")
        write(computer, joined(p["wanted"])[:-1])
        press(computer, "ctrl+o", "Return")
        wait(computer)


class NanoDeleteRange(_Nano):
    words = "Delete the lines from {first} to {last} of {file}, both included, and write the file."

    def change(self, rng: Random) -> Texts:
        text = lines(rng, 12)
        first = rng.randrange(2, 6)
        last = first + rng.randrange(2, 5)
        wanted, wrong = (text[: first - 1] + text[end:] for end in (last, last - 1))
        return text, wanted, wrong, {"first": first, "last": last}


class NanoSetting(_Nano):
    words = "In the settings of {file}, set {key} to {value} in the section [{section}], and write the file."

    def change(self, rng: Random) -> Texts:
        sections, keys = rng.sample(WORDS[:20], 3), rng.sample(WORDS[20:], 3)
        at, other, value = rng.randrange(3), rng.randrange(3), rng.randrange(100, 1000)
        values = [[rng.randrange(10, 100) for _ in keys] for _ in sections]

        def settings(place: int) -> list[str]:
            return [
                row
                for number, section in enumerate(sections)
                for row in (
                    f"[{section}]",
                    *(
                        f"{key}={value if (number, k) == (place, other) else values[number][k]}"
                        for k, key in enumerate(keys)
                    ),
                )
            ]

        more = {"section": sections[at], "key": keys[other], "value": value}
        return settings(-1), settings(at), settings((at + 1) % 3), more


class NanoComment(_Nano):
    words = 'Put "# " before each line of {file} that has the word {word} in it, and write the file.'

    def change(self, rng: Random) -> Texts:
        sought, *others = line(rng, 12).split()
        text = [" ".join(rng.sample([sought, *others] if at % 2 else others, 4)) for at in range(8)]
        text.append(f"{others[0]} {sought}")
        wanted = [f"# {each}" if sought in each else each for each in text]
        return text, wanted, [f"# {each}" for each in text], {"word": sought}


class NanoInsertFile(_Nano):
    words = "Insert the text of {other} at the end of {file}, and write {file}. {other} stays as it is."
    split = "test"

    def change(self, rng: Random) -> Texts:
        text = lines(rng, 8)
        return text[:5], text, text[5:] + text[:5], {"other": f"part-{file(rng)}"}

    def setup(self, rng: Random, home: Path) -> dict[str, Any]:
        p = super().setup(rng, home)
        (home / p["other"]).write_text(joined(p["wanted"][5:]))
        return p

    def check(self, p: dict[str, Any], look: Look) -> float:
        return super().check(p, look) * has(look.home / p["other"], joined(p["wanted"][5:]))

    def oracle(self, p: dict[str, Any], computer: Any) -> None:
        press(computer, "Escape", "/", "ctrl+r")
        write(computer, f"{p['other']}\n")
        press(computer, "ctrl+o", "Return")
        wait(computer)


class NanoWriteAs(_Nano):
    words = "Write what is in {file} without its first line to {new}. {file} stays as it is."

    def change(self, rng: Random) -> Texts:
        text = lines(rng, 6)
        return text, text[1:], text, {"new": f"{word(rng)}-new.txt"}

    def check(self, p: dict[str, Any], look: Look) -> float:
        return float(has(look.home / p["new"], joined(p["wanted"])) and has(look.home / p["file"], joined(p["wrong"])))

    def oracle(self, p: dict[str, Any], computer: Any) -> None:
        press(computer, "ctrl+k", "ctrl+o", *["BackSpace"] * 24)
        write(computer, f"{p['new']}\ny")
        wait(computer)

    def trap_wrong(self, p: dict[str, Any], home: Path) -> None:
        (home / p["new"]).write_text(joined(p["wrong"]))


class NanoHosts(_Nano):
    words = "Add to {file} a line for the host {host} with the address {address}, a space between them; write the file."

    def change(self, rng: Random) -> Texts:
        names = line(rng, 5).split()
        addresses = [f"10.{rng.randrange(10)}.{rng.randrange(100)}.{at}" for at in rng.sample(range(2, 250), 5)]
        wanted = [f"{address} {name}" for address, name in zip(addresses, names, strict=True)]
        wrong = [*wanted[:-1], f"{names[-1]} {addresses[-1]}"]
        return wanted[:-1], wanted, wrong, {"host": names[-1], "address": addresses[-1]}
