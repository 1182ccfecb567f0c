"""Tasks with a terminal on the left and a text on the right."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from beside import LEFT, RIGHT, Answer, Letter, Parameters, make_files
from edits import has, retype
from hands import click, wait, write
from pluriverse_server.kit import Look
from words import WORDS, line, word


class ShellCountFiles(Answer):
    words = "Find out in the terminal how many files {folder} has, write the number into {file}, and save that."

    def find(self, rng: Random, home: Path) -> tuple[str, str, Parameters]:
        folder, count = word(rng), rng.randrange(12, 60)
        make_files(rng, home / folder, count)
        return str(count), str(count + 1), {"folder": folder}


class ShellProgram(Answer):
    words = "Run ./code {number} in the terminal, write the word that it prints into {file}, and save that."

    def find(self, rng: Random, home: Path) -> tuple[str, str, Parameters]:
        text = rng.sample(WORDS, 9)
        number = rng.randrange(9)
        (home / "code").write_text(f'#!/bin/bash\nwords=({" ".join(text)})\necho "${{words[$1]}}"\n')
        (home / "code").chmod(0o755)
        return text[number], text[number - 1], {"number": number}


class ShellFindLine(Answer):
    words = "One of the files in {folder} has a line with {word}. Write that whole line into {file}, and save that."
    split = "test"
    difficulty = 2

    def find(self, rng: Random, home: Path) -> tuple[str, str, Parameters]:
        folder, sought, *others = line(rng, 16).split()
        texts = [" ".join(rng.sample(others, 5)) for _ in range(40)]
        texts[rng.randrange(40)] += f" {sought}"
        (home / folder).mkdir()
        for at in range(8):
            (home / folder / f"{others[at]}.txt").write_text(
                "".join(f"{each}\n" for each in texts[5 * at : 5 * at + 5])
            )
        answer = next(each for each in texts if sought in each)
        return answer, answer.removesuffix(f" {sought}"), {"folder": folder, "word": sought}


class ShellAsked(Letter):
    words = "{file} asks for a folder and for a file in it. Make both in the terminal."

    def ask(self, rng: Random, home: Path) -> tuple[list[str], Parameters]:
        folder, name, text = line(rng, 3).split()
        letter = ["Please make a folder", f"  {folder}", "and in it a file", f"  {name}.txt", f"that says {text}."]
        return letter, {"folder": folder, "name": f"{name}.txt", "text": text}

    def check(self, p: Parameters, look: Look) -> float:
        return float(has(look.home / p["folder"] / p["name"], p["text"]))

    def oracle(self, p: Parameters, computer: Any) -> None:
        wait(computer, 2.0)
        click(computer, *LEFT)
        write(computer, f"mkdir {p['folder']}; echo {p['text']} > {p['folder']}/{p['name']}\n")
        wait(computer)

    def trap_beside(self, p: Parameters, home: Path) -> None:
        (home / p["folder"]).mkdir()
        (home / p["name"]).write_text(p["text"])


class ShellWriteScript(Letter):
    words = "Write a script into {file} that prints {text}, save it, and run it in the terminal so that {out} has that."
    difficulty = 2

    def ask(self, rng: Random, home: Path) -> tuple[list[str], Parameters]:
        (home / "hello.sh").write_text("")
        return [], {"text": line(rng, 2), "out": f"{word(rng)}.out"}

    def setup(self, rng: Random, home: Path) -> Parameters:
        return {**super().setup(rng, home), "file": "hello.sh"}

    def check(self, p: Parameters, look: Look) -> float:
        script = (look.home / "hello.sh").read_text()
        return float(p["text"] in script and has(look.home / p["out"], p["text"]))

    def oracle(self, p: Parameters, computer: Any) -> None:
        wait(computer)
        click(computer, *RIGHT)
        retype(computer, [f"echo {p['text']}"])
        click(computer, *LEFT)
        write(computer, f"bash hello.sh > {p['out']}\n")
        wait(computer)

    def trap_no_script(self, p: Parameters, home: Path) -> None:
        (home / p["out"]).write_text(p["text"])
