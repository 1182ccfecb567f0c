"""Tasks with a database on the left and a text on the right."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from beside import Answer, Letter, Parameters
from hands import run_sql, wait
from pluriverse_server.kit import Look
from words import NAMES, WORDS

Person = tuple[str, int, str]


def _make(rng: Random, home: Path) -> list[Person]:
    """Make a database of people, whose ages and towns all differ."""
    people = list(zip(rng.sample(NAMES, 9), rng.sample(range(20, 90), 9), rng.sample(WORDS, 9), strict=True))
    with closing(sqlite3.connect(home / "people.db")) as database, database:
        database.execute("CREATE TABLE people (name TEXT, age INTEGER, town TEXT)")
        database.executemany("INSERT INTO people VALUES (?, ?, ?)", people)
    return people


class _People(Answer):
    def ask(self, rng: Random, people: list[Person]) -> tuple[str, str, Parameters]:
        raise NotImplementedError

    def find(self, rng: Random, home: Path) -> tuple[str, str, Parameters]:
        return self.ask(rng, _make(rng, home))


class PeopleTown(_People):
    words = "Look up in the table people where {name} lives, write the town into {file}, and save that."

    def ask(self, rng: Random, people: list[Person]) -> tuple[str, str, Parameters]:
        (name, _, town), (_, _, other) = rng.sample(people, 2)
        return town, other, {"name": name}


class PeopleByAge(_People):
    words = "The oldest of the table people is number 1. Write the name of number {number} into {file}, and save that."

    def ask(self, rng: Random, people: list[Person]) -> tuple[str, str, Parameters]:
        number = rng.randrange(1, 9)
        ordered = sorted(people, key=lambda each: -each[1])
        return ordered[number - 1][0], ordered[number][0], {"number": number}


class PeopleCount(_People):
    words = "Write into {file} how many of the table people are older than {age}, as a number alone, and save that."
    split = "test"
    difficulty = 2

    def ask(self, rng: Random, people: list[Person]) -> tuple[str, str, Parameters]:
        age = sorted(each[1] for each in people)[rng.randrange(2, 7)]
        older = sum(each[1] > age for each in people)
        return str(older), str(older + 1), {"age": age}


class _News(Letter):
    def news(self, rng: Random, people: list[Person]) -> tuple[str, str, str]:
        """Return what the letter says, the statement that is wanted, and a wrong one."""
        raise NotImplementedError

    def ask(self, rng: Random, home: Path) -> tuple[list[str], Parameters]:
        people = _make(rng, home)
        text, sql, wrong = self.news(rng, people)
        return ["Hello,", "", text, "", "Yours, Zita"], {"people": people, "sql": sql, "wrong": wrong}

    def check(self, p: Parameters, look: Look) -> float:
        every = "SELECT name, age, town FROM people"
        with closing(sqlite3.connect(":memory:")) as wanted:
            wanted.execute("CREATE TABLE people (name TEXT, age INTEGER, town TEXT)")
            wanted.executemany("INSERT INTO people VALUES (?, ?, ?)", p["people"])
            wanted.execute(p["sql"])
            try:
                with closing(sqlite3.connect(f"file:{look.home / 'people.db'}?mode=ro", uri=True)) as there:
                    return float(sorted(there.execute(every)) == sorted(wanted.execute(every)))
            except (sqlite3.Error, TypeError):
                return 0.0

    def oracle(self, p: Parameters, computer: Any) -> None:
        wait(computer, 2.0)
        run_sql(computer, 180, p["sql"])

    def trap_wrong(self, p: Parameters, home: Path) -> None:
        with closing(sqlite3.connect(home / "people.db")) as database, database:
            database.execute(p["wrong"])


class PeopleMoved(_News):
    words = "{file} says who has moved where. Change that in the table people, and write the changes."
    difficulty = 2

    def news(self, rng: Random, people: list[Person]) -> tuple[str, str, str]:
        (name, _, _), (other, _, _) = rng.sample(people, 2)
        town = f"{rng.choice(WORDS)}ham"
        sql, wrong = (f"UPDATE people SET town = '{town}' WHERE name = '{each}'" for each in (name, other))
        return f"{name} lives in {town} now.", sql, wrong


class PeopleNew(_News):
    words = "{file} says who has come. Add a row of name, age and town to the table people, and write the changes."
    difficulty = 2

    def news(self, rng: Random, people: list[Person]) -> tuple[str, str, str]:
        name, age, town = f"{rng.choice(NAMES)}-{rng.choice(NAMES)}", rng.randrange(20, 90), rng.choice(WORDS)
        sql, wrong = (f"INSERT INTO people VALUES ('{name}', {years}, '{town}')" for years in (age, age + 1))
        return f"{name} has come, who is {age} and lives in {town}.", sql, wrong
