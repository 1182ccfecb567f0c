"""Tasks in the shop: what is in its database as they are submitted."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from random import Random
from typing import Any

from pluriverse_server.kit import Look, Task
from serve import SCHEMA

ITEMS = ("kite", "lamp", "mug", "rope", "tent", "drum", "vase", "whistle")
TOWNS = ("Bergen", "Cadiz", "Dover", "Essen", "Faro", "Genoa")


def database(home: Path) -> contextlib.closing[sqlite3.Connection]:
    return contextlib.closing(sqlite3.connect(home / "shop.db", isolation_level=None))


def go_on(computer: Any, fields: int, text: str) -> None:
    """Go so many fields and links further, type, and wait for the page that comes."""
    from pluriverse.adapters.computer import Press, Type, Wait
    from pluriverse.adapters.computer.key_names import chord

    computer.do(Press(chord("Tab"), repeat=fields))
    computer.do(Type(text))
    computer.do(Wait(0.5))


class _InTheShop(Task):
    def setup(self, rng: Random, home: Path) -> dict[str, Any]:
        items = rng.sample(ITEMS, 6)
        with database(home) as shop:
            shop.executescript(SCHEMA)
            for number, name in enumerate(items, 1):
                shop.execute("insert into items values (?, ?, ?)", (number, name, rng.randrange(100, 5000)))
            for number in range(1, 4):
                order = (number, rng.randrange(1, 7), rng.randrange(1, 9), TOWNS[number - 1])
                shop.execute("insert into orders values (?, ?, ?, ?)", order)
            before = [list(row) for row in shop.execute("select item, count, town from orders")]
        return {"items": items, "before": before}

    def check(self, p: dict[str, Any], look: Look) -> float:
        with database(look.home) as shop:
            orders = [list(row) for row in shop.execute("select item, count, town from orders order by id")]
        return float(orders == p["wanted"])


class Order(_InTheShop):
    words = "Order {count} of the {item} to {town}, and nothing else."

    def setup(self, rng: Random, home: Path) -> dict[str, Any]:
        p = super().setup(rng, home)
        number, count, town = rng.randrange(6), rng.randrange(2, 9), rng.choice(TOWNS)
        wanted = [*p["before"], [number + 1, count, town]]
        return {**p, "item": p["items"][number], "count": count, "town": town, "wanted": wanted}

    def oracle(self, p: dict[str, Any], computer: Any) -> None:
        go_on(computer, 4 + 2 * sorted(p["items"]).index(p["item"]), f"{p['count']}\n")
        go_on(computer, 2, "\n")
        go_on(computer, 5, f"{p['town']}\n")

    def trap_another_town(self, p: dict[str, Any], home: Path) -> None:
        item, count, town = p["wanted"][-1]
        with database(home) as shop:
            other = next(each for each in TOWNS if each != town)
            shop.execute("insert into orders (item, count, town) values (?, ?, ?)", (item, count, other))

    def trap_in_the_cart(self, p: dict[str, Any], home: Path) -> None:
        with database(home) as shop:
            shop.execute("insert into cart values (?, ?)", p["wanted"][-1][:2])


class Cancel(_InTheShop):
    words = "Cancel the order to {town}."

    def setup(self, rng: Random, home: Path) -> dict[str, Any]:
        p = super().setup(rng, home)
        number = rng.randrange(3)
        return {**p, "town": TOWNS[number], "wanted": [row for row in p["before"] if row[2] != TOWNS[number]]}

    def oracle(self, p: dict[str, Any], computer: Any) -> None:
        go_on(computer, 3, "\n")
        go_on(computer, 4 + TOWNS.index(p["town"]), "\n")

    def trap_all(self, p: dict[str, Any], home: Path) -> None:
        with database(home) as shop:
            shop.execute("delete from orders")
