"""Tasks in DB Browser for SQLite: what is in the database when the changes were written."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from hands import run_sql
from pluriverse_server.kit import Look, Task
from words import GOODS, NAMES, WORDS, file, line, word

Parameters = dict[str, Any]
Content = dict[str, tuple[list[str], list[Any]]]


class _Database(Task):
    """``change`` returns the statements that are wanted, others that are wrong, and more parameters."""

    def change(self, rng: Random, people: list[str], goods: list[str]) -> tuple[str, str, Parameters]:
        raise NotImplementedError

    def setup(self, rng: Random, home: Path) -> Parameters:
        people, goods = rng.sample(NAMES, 8), rng.sample(GOODS, 6)
        made = "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, age INTEGER, town TEXT);"
        made += "CREATE TABLE goods (id INTEGER PRIMARY KEY, name TEXT, price INTEGER);"
        for name, town in zip(people, rng.sample(WORDS, 8), strict=True):
            made += f"INSERT INTO people (name, age, town) VALUES ('{name}', {rng.randrange(20, 80)}, '{town}');"
        for name in goods:
            made += f"INSERT INTO goods (name, price) VALUES ('{name}', {rng.randrange(10, 90)});"
        sql, wrong, more = self.change(rng, people, goods)
        p = {"file": file(rng, "db"), "made": made, "sql": sql, "wrong": wrong, **more}
        _execute(home / p["file"], made)
        return p

    def check(self, p: Parameters, look: Look) -> float:
        path = look.home / p["file"]
        with closing(sqlite3.connect(":memory:")) as wanted:
            wanted.executescript(p["made"] + p["sql"])
            try:
                with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as there:
                    return float(_content(there) == _content(wanted))
            except sqlite3.Error:
                return 0.0

    def oracle(self, p: Parameters, computer: Any) -> None:
        run_sql(computer, 250, p["sql"])

    def trap_wrong(self, p: Parameters, home: Path) -> None:
        _execute(home / p["file"], p["wrong"])


def _execute(path: Path, statements: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.executescript(statements)


def _content(database: sqlite3.Connection) -> Content:
    """Return the columns and rows of each table and view, and the columns of each index."""
    found: Content = {}
    for name, kind in database.execute("SELECT name, type FROM sqlite_master").fetchall():
        about = "index_info" if kind == "index" else "table_info"
        columns = [row[2 if kind == "index" else 1] for row in database.execute(f'PRAGMA {about}("{name}")')]
        rows = [] if kind == "index" else sorted(database.execute(f'SELECT * FROM "{name}"'), key=repr)
        found[f"{kind} {'of' if kind == 'index' else name}"] = columns, rows
    return found


class DatabaseCorrectAge(_Database):
    words = "In the table people, {name}'s age is wrong. Set it to {age}, and write the changes."

    def change(self, rng: Random, people: list[str], goods: list[str]) -> tuple[str, str, Parameters]:
        name, other = rng.sample(people, 2)
        age = rng.randrange(81, 100)
        sql, wrong = (f"UPDATE people SET age = {age} WHERE name = '{each}';" for each in (name, other))
        return sql, wrong, {"name": name, "age": age}


class DatabaseAddPerson(_Database):
    words = "Add {name}, who is {age} and lives in {town}, to the table people, and write the changes."

    def change(self, rng: Random, people: list[str], goods: list[str]) -> tuple[str, str, Parameters]:
        name, age, town = rng.choice([each for each in NAMES if each not in people]), rng.randrange(20, 80), word(rng)
        sql = f"INSERT INTO people (name, age, town) VALUES ('{name}', {age}, '{town}');"
        return sql, sql.replace(f"'{town}'", "NULL"), {"name": name, "age": age, "town": town}


class DatabaseDeletePerson(_Database):
    words = "Delete {name} from the table people, and nobody else. Write the changes."

    def change(self, rng: Random, people: list[str], goods: list[str]) -> tuple[str, str, Parameters]:
        name, other = rng.sample(people, 2)
        sql, wrong = (f"DELETE FROM people WHERE name = '{each}';" for each in (name, other))
        return sql, wrong, {"name": name}


class DatabaseRenameTable(_Database):
    words = "Rename the table goods to {new}, and write the changes."
    split = "test"

    def change(self, rng: Random, people: list[str], goods: list[str]) -> tuple[str, str, Parameters]:
        new = f"{word(rng)}s"
        return f"ALTER TABLE goods RENAME TO {new};", f"ALTER TABLE people RENAME TO {new};", {"new": new}


class DatabaseAddColumn(_Database):
    words = "Add a column {new} at the end of the table {table}, of the type INTEGER, and write the changes."

    def change(self, rng: Random, people: list[str], goods: list[str]) -> tuple[str, str, Parameters]:
        table, other = rng.sample(["people", "goods"], 2)
        new = word(rng)
        sql, wrong = (f"ALTER TABLE {each} ADD COLUMN {new} INTEGER;" for each in (table, other))
        return sql, wrong, {"new": new, "table": table}


class DatabaseRaisePrices(_Database):
    words = "Raise each price in the table goods by {more}, and write the changes."
    difficulty = 2

    def change(self, rng: Random, people: list[str], goods: list[str]) -> tuple[str, str, Parameters]:
        more = rng.randrange(2, 10)
        sql = f"UPDATE goods SET price = price + {more};"
        return sql, sql.replace(";", " WHERE id > 1;"), {"more": more}


class DatabaseNewTable(_Database):
    words = "Make a table {table} with the columns {one}, {two} and {three}, in this order, and write the changes."

    def change(self, rng: Random, people: list[str], goods: list[str]) -> tuple[str, str, Parameters]:
        table, *columns = line(rng, 4).split()
        sql, wrong = (f"CREATE TABLE {table} ({', '.join(each)});" for each in (columns, columns[::-1]))
        return sql, wrong, {"table": table, **dict(zip(("one", "two", "three"), columns, strict=True))}


class DatabaseIndex(_Database):
    words = "Make an index of the table people over the column {column}, and write the changes."
    difficulty = 2

    def change(self, rng: Random, people: list[str], goods: list[str]) -> tuple[str, str, Parameters]:
        column, other = rng.sample(["name", "age", "town"], 2)
        sql, wrong = (f"CREATE INDEX by_{each} ON people ({each});" for each in (column, other))
        return sql, wrong, {"column": column}


class DatabaseDeleteYoung(_Database):
    words = "Delete everybody from the table people who is younger than {age}, and write the changes."
    split = "test"
    difficulty = 2

    def change(self, rng: Random, people: list[str], goods: list[str]) -> tuple[str, str, Parameters]:
        age = rng.randrange(45, 60)
        more = f"INSERT INTO people (name, age) VALUES ('Xaver', {age}), ('Yann', {age - 1});"
        return f"{more}DELETE FROM people WHERE age < {age};", f"{more}DELETE FROM people;", {"age": age, "more": more}

    def setup(self, rng: Random, home: Path) -> Parameters:
        """Somebody is just as old, and somebody a year younger."""
        p = super().setup(rng, home)
        _execute(home / p["file"], p["more"])
        return {**p, "made": p["made"] + p["more"], **{key: p[key].removeprefix(p["more"]) for key in ("sql", "wrong")}}


class DatabaseCopyTown(_Database):
    words = "{one} has moved in with {other}: give {one} the town of {other} in the table people. Write the changes."
    difficulty = 2

    def change(self, rng: Random, people: list[str], goods: list[str]) -> tuple[str, str, Parameters]:
        one, other = rng.sample(people, 2)
        sql, wrong = (
            f"UPDATE people SET town = (SELECT town FROM people WHERE name = '{whose}') WHERE name = '{who}';"
            for who, whose in ((one, other), (other, one))
        )
        return sql, wrong, {"one": one, "other": other}
