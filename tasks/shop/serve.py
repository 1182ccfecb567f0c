"""A shop: items, a cart and orders, in shop.db of its home."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterable
from html import escape
from pathlib import Path

from pluriverse_server.kit import PageRequest, PageResponse

SCHEMA = """
create table items (id integer primary key, name text, price integer);
create table cart (item integer, count integer);
create table orders (id integer primary key, item integer, count integer, town text);
"""


def respond(request: PageRequest, home: Path) -> str | PageResponse | None:
    with contextlib.closing(sqlite3.connect(home / "shop.db")) as shop, shop:
        action = ACTIONS.get(request.path)
        if request.method == "POST" and action is not None:
            action(shop, request)
            return PageResponse(status=303, headers={"Location": request.form.get("back", "/orders")})
        page = PAGES.get(request.path)
        return None if page is None else _page(page(shop))


def _add(shop: sqlite3.Connection, request: PageRequest) -> None:
    shop.execute("insert into cart values (?, ?)", (int(request.form["item"]), int(request.form["count"])))


def _empty(shop: sqlite3.Connection, request: PageRequest) -> None:
    shop.execute("delete from cart")


def _order(shop: sqlite3.Connection, request: PageRequest) -> None:
    town = request.form["town"]
    shop.execute("insert into orders (item, count, town) select item, count, ? from cart", (town,))
    _empty(shop, request)


def _cancel(shop: sqlite3.Connection, request: PageRequest) -> None:
    shop.execute("delete from orders where id = ?", (int(request.form["order"]),))


def _items(shop: sqlite3.Connection) -> str:
    return _table(
        ("item", "price", ""),
        (
            (escape(name), f"{price / 100:.2f}", _form("/add", "Add", item=item, back="/", count=None))
            for item, name, price in shop.execute("select * from items order by name")
        ),
    )


def _cart(shop: sqlite3.Connection) -> str:
    rows = list(shop.execute("select name, count from cart join items on id = item"))
    listed = _table(("item", "count"), ((escape(name), str(count)) for name, count in rows))
    return f"{listed}{_form('/empty', 'Empty', back='/cart')}{_form('/order', 'Order', town=None)}"


def _orders(shop: sqlite3.Connection) -> str:
    asked = "select orders.id, name, count, town from orders join items on items.id = item order by orders.id"
    return _table(
        ("number", "item", "count", "town", ""),
        (
            (str(number), escape(name), str(count), escape(town), _form("/cancel", "Cancel", order=number))
            for number, name, count, town in shop.execute(asked)
        ),
    )


def _form(action: str, button: str, **fields: str | int | None) -> str:
    """Return a form; what is None is asked for."""
    inputs = "".join(
        f'{name} <input name="{name}" size="6" required> '
        if value is None
        else f'<input type="hidden" name="{name}" value="{value}">'
        for name, value in fields.items()
    )
    return f'<form method="post" action="{action}">{inputs}<button>{button}</button></form>'


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [f"<tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>"]
    lines += [f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows]
    return f"<table>{''.join(lines)}</table>"


def _page(body: str) -> str:
    links = "".join(
        f'<a href="{path}">{name}</a>' for path, name in (("/", "Items"), ("/cart", "Cart"), ("/orders", "Orders"))
    )
    return f'<!doctype html><title>Shop</title><link rel="stylesheet" href="/style.css"><nav>{links}</nav>{body}'


ACTIONS: dict[str, Callable[[sqlite3.Connection, PageRequest], None]] = {
    "/add": _add,
    "/empty": _empty,
    "/order": _order,
    "/cancel": _cancel,
}
PAGES: dict[str, Callable[[sqlite3.Connection], str]] = {"/": _items, "/cart": _cart, "/orders": _orders}
