"""Hearth, a shop of things for the home: its goods, basket, orders, addresses."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from html import escape
from typing import Any, Final

from web import box, field, form, hidden, radios, setting, site, table, written

SCHEMA: Final = """
CREATE TABLE product (id INTEGER PRIMARY KEY, category, name UNIQUE, colour, price INTEGER, stock INTEGER, stars REAL,
  about);
CREATE TABLE basket (product INTEGER PRIMARY KEY, quantity INTEGER);
CREATE TABLE wish (product INTEGER PRIMARY KEY);
CREATE TABLE address (id INTEGER PRIMARY KEY, label, name, street, town, main INTEGER);
CREATE TABLE placed (id INTEGER PRIMARY KEY, day, status, address, delivery, gift, coupon, total INTEGER);
CREATE TABLE line (placed INTEGER, product INTEGER, quantity INTEGER, price INTEGER, returned);
CREATE TABLE review (product INTEGER, stars INTEGER, words, own INTEGER);
CREATE TABLE coupon (code, percent INTEGER, minimum INTEGER, until);
CREATE TABLE setting (name PRIMARY KEY, value);
"""
COLOURS: Final = {
    "white": "#f6f4ee", "black": "#2b2b2b", "red": "#b8413a", "blue": "#3d6aa8", "green": "#4f8a5b", "grey": "#8f959a",
    "yellow": "#e2b93b", "brown": "#7b5a3c",
}  # fmt: skip
GOODS: Final = {
    "Lamps": (("Desk", "Floor", "Table", "Reading", "Clip"), "Lamp", 1900, 12900),
    "Mugs": (("Espresso", "Coffee", "Travel", "Soup", "Tea"), "Mug", 500, 2900),
    "Blankets": (("Wool", "Cotton", "Picnic", "Baby", "Fleece"), "Blanket", 1500, 9900),
    "Shelves": (("Wall", "Corner", "Book", "Spice", "Shoe"), "Shelf", 1900, 15900),
    "Clocks": (("Wall", "Kitchen", "Alarm", "Mantel", "Travel"), "Clock", 900, 7900),
    "Baskets": (("Laundry", "Bread", "Picnic", "Storage", "Fruit"), "Basket", 700, 4900),
}
STREETS: Final = ("Mill Lane", "Harbour Street", "Elm Road", "Station Road", "Quarry Hill", "Orchard Way")
TOWNS: Final = ("Marlow", "Whitby", "Ludlow", "Selby", "Corsham", "Alnwick")
NAMES: Final = ("Robin Ash", "Kit Marsh", "Alex Heath", "Sam Brook")
DELIVERIES: Final = {"Standard": 490, "Express": 990, "Collect in the shop": 0}
REASONS: Final = ("Broken", "Wrong item", "Not needed")
ON_A_PAGE: Final = 8
LINKS: Final = {
    "Goods": "/", "Basket": "/basket", "Orders": "/orders", "Wishes": "/wishes", "Offers": "/offers",
    "Account": "/account",
}  # fmt: skip


def fill(rng: random.Random, db: sqlite3.Connection) -> None:
    db.executescript(SCHEMA)
    rows = [
        (category, f"{kind} {noun}, {colour}", colour, rng.randrange(low, high, 100) + 90, stars / 10)
        for category, (kinds, noun, low, high) in GOODS.items()
        for kind in kinds
        for colour, stars in zip(rng.sample(list(COLOURS), 2), rng.sample(range(21, 50), 2), strict=True)
    ]
    rng.shuffle(rows)
    for category, name, colour, price, stars in rows:
        stock = rng.choice((0, 3, 7, 12, 20, 20, 20))
        about = f"Made in {rng.choice(TOWNS)}, guaranteed for {rng.randint(2, 9)} years."
        given = (category, name, colour, price, stock, stars, about)
        db.execute("INSERT INTO product VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", given)
    today = date(2026, 1, 1) + timedelta(rng.randrange(300))
    db.executemany("INSERT INTO setting VALUES (?, ?)", [("today", f"{today}"), ("coupon", ""), ("newsletter", "on")])
    person, streets = rng.choice(NAMES), rng.sample(STREETS, 3)
    for label, street in zip(("Home", "Office", "Parents"), streets, strict=True):
        given = (label, person, f"{rng.randint(2, 98)} {street}", rng.choice(TOWNS), label == "Home")
        db.execute("INSERT INTO address VALUES (NULL, ?, ?, ?, ?, ?)", given)
    ids = [row["id"] for row in db.execute("SELECT id FROM product ORDER BY id")]
    for product in rng.sample(ids, 3):
        db.execute("INSERT INTO basket VALUES (?, ?)", (product, rng.randint(1, 3)))
    for product in rng.sample(ids, 4):
        db.execute("INSERT INTO wish VALUES (?)", (product,))
    bought = iter(rng.sample(ids, 15))
    days = sorted(rng.sample(range(2, 200), 5), reverse=True)
    for ago, status in zip(days, ("delivered", "delivered", "delivered", "on its way", "being packed"), strict=True):
        given = (f"{today - timedelta(ago)}", status, "Home", "Standard")
        number = db.execute("INSERT INTO placed VALUES (NULL, ?, ?, ?, ?, '', '', 0)", given).lastrowid
        for product in (next(bought), next(bought), next(bought)):
            (price,) = db.execute("SELECT price FROM product WHERE id = ?", (product,)).fetchone()
            db.execute("INSERT INTO line VALUES (?, ?, ?, ?, '')", (number, product, rng.randint(1, 3), price))
        total = "(SELECT sum(quantity * price) FROM line WHERE placed = :n) + 490"
        db.execute(f"UPDATE placed SET total = {total} WHERE id = :n", {"n": number})
    for product in rng.sample(ids, 20):
        words = rng.choice(("Good.", "As described.", "Smaller than I thought.", "Lovely colour.", "Came late."))
        db.execute("INSERT INTO review VALUES (?, ?, ?, 0)", (product, rng.randint(1, 5), words))
    for code, percent in zip(rng.sample(("SPRING", "HEARTH", "COSY", "WARM", "NEST"), 3), (5, 10, 20), strict=True):
        until = today + timedelta(rng.randint(5, 60))
        db.execute("INSERT INTO coupon VALUES (?, ?, ?, ?)", (f"{code}{percent}", percent, percent * 200, f"{until}"))


def place(db: sqlite3.Connection, address: str, delivery: str, gift: str) -> int:
    """Order what is in the basket; return the order's number."""
    lines = db.execute("SELECT product.*, quantity FROM basket JOIN product ON id = product ORDER BY id").fetchall()
    code = setting(db, "coupon")
    percent = db.execute("SELECT coalesce(max(percent), 0) FROM coupon WHERE code = ?", (code,)).fetchone()[0]
    goods = sum(line["quantity"] * line["price"] for line in lines)
    total = goods - goods * percent // 100 + DELIVERIES[delivery]
    given = (setting(db, "today"), "being packed", address, delivery, gift, code, total)
    number = db.execute("INSERT INTO placed VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", given).lastrowid
    assert number is not None
    for line in lines:
        given = (number, line["id"], line["quantity"], line["price"])
        db.execute("INSERT INTO line VALUES (?, ?, ?, ?, '')", given)
        db.execute("UPDATE product SET stock = stock - ? WHERE id = ?", (line["quantity"], line["id"]))
    db.execute("DELETE FROM basket")
    db.execute("UPDATE setting SET value = '' WHERE name = 'coupon'")
    return number


def _money(cents: int) -> str:
    return f"€ {cents / 100:.2f}"


def _link(row: Mapping[str, Any]) -> str:
    return f'<a href="/product/{row["id"]}">{escape(row["name"])}</a>'


def _hidden(product: int) -> str:
    return hidden("product", product)


# ── what is shown ────────────────────────────────────────────────────────────────────────────────────────────────────


def _goods(db: sqlite3.Connection, rest: str, query: Mapping[str, str]) -> tuple[str, str]:
    category, words, sort = query.get("category", ""), query.get("words", ""), query.get("sort", "name")
    order = {"name": "name", "price": "price, name", "stars": "stars DESC, name"}.get(sort, "name")
    rows = db.execute(f"SELECT * FROM product WHERE ? IN ('', category) ORDER BY {order}", (category,)).fetchall()
    found = [row for row in rows if all(word in row["name"].lower() for word in words.lower().split())]
    number = max(0, int(query.get("page", "0")))
    here = f"/?category={category}&words={escape(words)}&sort="
    shelves = "".join(f'<a href="/?category={each}">{each}</a>' for each in GOODS)
    sorts = {"Name": "name", "Price": "price", "Best rated": "stars"}
    tabs = "".join(f'<a href="{here}{by}">{label}</a>' for label, by in sorts.items())
    search = form("/", field("Search", "words", words), "Find", kind="inline", method="get")
    cards = "".join(
        f'<div><div class="swatch" style="background:{COLOURS[row["colour"]]}"></div>{_link(row)}'
        f"<p>{_money(row['price'])} · ★ {row['stars']}</p><p class=quiet>{_stock(row)}</p></div>"
        for row in found[number * ON_A_PAGE : (number + 1) * ON_A_PAGE]
    )
    ways = [("Previous page", number - 1)] * (number > 0)
    ways += [("Next page", number + 1)] * ((number + 1) * ON_A_PAGE < len(found))
    turn = "".join(f'<a href="{here}{sort}&page={to}">{label}</a>' for label, to in ways)
    top = f'<p class="tabs">{shelves}</p><div class="tabs">{search} Sort by: {tabs}</div>'
    return category or "All goods", f'{top}<div class="goods">{cards}</div><p class="tabs">{turn}</p>'


def _stock(row: Mapping[str, Any]) -> str:
    return f"{row['stock']} in stock" if row["stock"] else "Sold out"


def _product(db: sqlite3.Connection, rest: str, query: Mapping[str, str]) -> tuple[str, str]:
    row = db.execute("SELECT * FROM product WHERE id = ?", (rest,)).fetchone()
    if row is None:
        return "Nothing here", ""
    reviews = db.execute("SELECT * FROM review WHERE product = ? ORDER BY rowid", (rest,)).fetchall()
    said = table([(f"{'★' * each['stars']}", escape(each["words"])) for each in reviews])
    of = _hidden(row["id"])
    buy = form("/add", of + field("Quantity", "quantity", 1, 3), "Add to basket", kind="inline")
    wish = form("/wish", of, "Add to wishes", kind="inline")
    stars = radios("Your stars", "stars", [*"12345"])
    review = form("/review", of + stars + field("Your review", "words", size=50), "Publish review", kind="tall")
    about = f"<p>{_money(row['price'])} · ★ {row['stars']} · {_stock(row)}</p><p>{escape(row['about'])}</p>"
    return row["name"], f"{about}{buy if row['stock'] else ''}{wish}<h2>Reviews</h2>{said}{review}"


def _basket(db: sqlite3.Connection, rest: str, query: Mapping[str, str]) -> tuple[str, str]:
    rows = db.execute("SELECT product.*, quantity FROM basket JOIN product ON id = product ORDER BY name").fetchall()
    if not rows:
        return "Basket", "<p>Nothing is in it.</p>"
    lines = [
        (
            _link(row),
            _money(row["price"]),
            form(
                "/quantity",
                _hidden(row["id"])
                + f'<input name="quantity" size="3" value="{row["quantity"]}" aria-label="Quantity of {row["name"]}">',
                "Change",
                f"Change {row['name']}",
            ),
            form("/remove", _hidden(row["id"]), "Remove", f"Remove {row['name']}"),
        )
        for row in rows
    ]
    total = sum(row["price"] * row["quantity"] for row in rows)
    coupon = form("/coupon", field("Coupon", "code", setting(db, "coupon"), 12), "Use coupon")
    out = '<p><a href="/checkout">Go to checkout</a></p>'
    return "Basket", f"{table(lines)}<p>Together {_money(total)}, without delivery.</p>{coupon}{out}"


def _checkout(db: sqlite3.Connection, rest: str, query: Mapping[str, str]) -> tuple[str, str]:
    addresses = db.execute("SELECT * FROM address ORDER BY id").fetchall()
    main = next((each["label"] for each in addresses if each["main"]), "")
    where = radios("Send to", "address", [each["label"] for each in addresses], main)
    how = radios("Delivery", "delivery", list(DELIVERIES), "Standard")
    inner = where + how + field("Note for a gift", "gift", size=50)
    return "Checkout", form("/place", inner, "Place order", kind="tall")


def _orders(db: sqlite3.Connection, rest: str, query: Mapping[str, str]) -> tuple[str, str]:
    if not rest:
        rows = db.execute("SELECT * FROM placed ORDER BY id DESC").fetchall()
        lines = [
            (f'<a href="/orders/{row["id"]}">Order {row["id"]}</a>', row["day"], row["status"], _money(row["total"]))
            for row in rows
        ]
        return "Orders", table(lines, ("Order", "Placed on", "Status", "Total"))
    order = db.execute("SELECT * FROM placed WHERE id = ?", (rest,)).fetchone()
    if order is None:
        return "Nothing here", ""
    number = hidden("placed", order["id"])
    rows = db.execute("SELECT * FROM line JOIN product ON id = line.product WHERE placed = ?", (rest,)).fetchall()
    lines: list[Sequence[str]] = []
    for row in rows:
        back = f"Return asked for: {row['returned']}" if row["returned"] else ""
        if order["status"] == "delivered" and not back:
            back = f'<a href="/return/{order["id"]}/{row["id"]}" aria-label="Return {row["name"]}">Return</a>'
        lines.append((_link(row), f"{row['quantity']} of it", _money(row["price"]), back))
    doing = form("/again", number, "Order again", kind="inline")
    if order["status"] == "being packed":
        doing += form("/cancel", number, "Cancel order", kind="inline")
    gift = f" · Gift: {escape(order['gift'])}" * bool(order["gift"])
    about = f"<p>Placed on {order['day']} · {order['status']} · {order['delivery']} to {order['address']}{gift}</p>"
    return f"Order {order['id']}", f"{about}{table(lines)}<p>Total {_money(order['total'])}</p>{doing}"


def _return(db: sqlite3.Connection, rest: str, query: Mapping[str, str]) -> tuple[str, str]:
    number, _, product = rest.partition("/")
    row = db.execute("SELECT * FROM product WHERE id = ?", (product,)).fetchone()
    if row is None:
        return "Nothing here", ""
    given = hidden("placed", number) + _hidden(row["id"])
    return f"Return {row['name']}", form(
        "/return", given + radios("Why", "why", REASONS), "Ask for return", kind="tall"
    )


def _wishes(db: sqlite3.Connection, rest: str, query: Mapping[str, str]) -> tuple[str, str]:
    rows = db.execute("SELECT product.* FROM wish JOIN product ON id = product ORDER BY name").fetchall()
    lines = [
        (
            _link(row),
            _money(row["price"]),
            _stock(row),
            form("/unwish", _hidden(row["id"]), "Forget", f"Forget {row['name']}"),
        )
        for row in rows
    ]
    return "Wishes", table(lines)


def _offers(db: sqlite3.Connection, rest: str, query: Mapping[str, str]) -> tuple[str, str]:
    rows = db.execute("SELECT * FROM coupon ORDER BY code").fetchall()
    lines = [(row["code"], f"{row['percent']} %", _money(row["minimum"]), row["until"]) for row in rows]
    return "Offers", table(lines, ("Coupon", "Off", "From", "Until"))


def _account(db: sqlite3.Connection, rest: str, query: Mapping[str, str]) -> tuple[str, str]:
    lines: list[Sequence[str]] = []
    for row in db.execute("SELECT * FROM address ORDER BY id"):
        number, label = hidden("address", row["id"]), escape(row["label"])
        doing = (
            "" if row["main"] else form("/main", number, "Make it the main one", f"Make {label} the main one", "inline")
        )
        doing += form("/forget", number, "Delete", f"Delete {label}", "inline")
        where = f"{escape(row['name'])}, {escape(row['street'])}, {escape(row['town'])}"
        lines.append((f"<b>{label}</b>" if row["main"] else label, where, doing))
    new = field("Label", "label", size=10) + field("Name", "name") + field("Street", "street") + field("Town", "town")
    news = form("/news", box("Send me the newsletter", "newsletter", setting(db, "newsletter")), "Save")
    return "Account", f"<h2>Addresses</h2>{table(lines)}{form('/address', new, 'Add address')}<h2>Letters</h2>{news}"


# ── what is done ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _add(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    """Put something into the basket, no more of it than there is."""
    put = "INSERT INTO basket SELECT id, 0 FROM product WHERE id = ? ON CONFLICT DO NOTHING"
    db.execute(put, (given["product"],))
    return _quantity(db, given, more="quantity + ")


def _quantity(db: sqlite3.Connection, given: Mapping[str, str], more: str = "") -> str:
    wanted = given["quantity"].strip()
    quantity = int(wanted) if wanted.isdecimal() and len(wanted) < 6 else 0
    most = "(SELECT stock FROM product WHERE id = product)"
    db.execute(f"UPDATE basket SET quantity = min({more}?, {most}) WHERE product = ?", (quantity, given["product"]))
    db.execute("DELETE FROM basket WHERE quantity = 0")
    return "/basket"


def _remove(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    db.execute("DELETE FROM basket WHERE product = ?", (given["product"],))
    return "/basket"


def _coupon(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    """Use a coupon if there is one of this code, and the goods cost enough for it."""
    cost = "(SELECT sum(quantity * price) FROM basket JOIN product ON id = product)"
    (code,) = db.execute(
        f"SELECT coalesce(max(code), '') FROM coupon WHERE code = ? AND minimum <= {cost}",
        (given["code"].strip().upper(),),
    ).fetchone()
    db.execute("UPDATE setting SET value = ? WHERE name = 'coupon'", (code,))
    return "/basket"


def _place(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    if not db.execute("SELECT 1 FROM basket").fetchone() or "address" not in given:
        return "/basket"
    return f"/orders/{place(db, given['address'], given['delivery'], written(given['gift']))}"


def _again(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    for line in db.execute("SELECT * FROM line WHERE placed = ?", (given["placed"],)).fetchall():
        _add(db, {"product": line["product"], "quantity": f"{line['quantity']}"})
    return "/basket"


def _cancel(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    cancelled = "UPDATE placed SET status = 'cancelled' WHERE id = ? AND status = 'being packed'"
    db.execute(cancelled, (given["placed"],))
    return f"/orders/{given['placed']}"


def _ask_return(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    why = given.get("why", "")
    if why in REASONS:
        asked = "UPDATE line SET returned = ? WHERE placed = ? AND product = ?"
        db.execute(asked, (why, given["placed"], given["product"]))
    return f"/orders/{given['placed']}"


def _wish(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    db.execute("INSERT INTO wish VALUES (?) ON CONFLICT DO NOTHING", (given["product"],))
    return "/wishes"


def _unwish(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    db.execute("DELETE FROM wish WHERE product = ?", (given["product"],))
    return "/wishes"


def _review(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    if given.get("stars"):
        said = (given["product"], int(given["stars"]), written(given["words"]))
        db.execute("INSERT INTO review VALUES (?, ?, ?, 1)", said)
    return f"/product/{given['product']}"


def _address(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    where = [written(given[name]) for name in ("label", "name", "street", "town")]
    if all(where):
        db.execute("INSERT INTO address VALUES (NULL, ?, ?, ?, ?, 0)", where)
    return "/account"


def _main(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    db.execute("UPDATE address SET main = (id = ?)", (int(given["address"]),))
    return "/account"


def _forget(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    db.execute("DELETE FROM address WHERE id = ?", (given["address"],))
    return "/account"


def _news(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    db.execute("UPDATE setting SET value = ? WHERE name = 'newsletter'", (given.get("newsletter", ""),))
    return "/account"


_SHOWING: Final = {
    "": _goods, "product": _product, "basket": _basket, "checkout": _checkout, "orders": _orders, "return": _return,
    "wishes": _wishes, "offers": _offers, "account": _account,
}  # fmt: skip
_DOING: Final = {
    "/add": _add, "/quantity": _quantity, "/remove": _remove, "/coupon": _coupon, "/place": _place, "/again": _again,
    "/cancel": _cancel, "/return": _ask_return, "/wish": _wish, "/unwish": _unwish, "/review": _review,
    "/address": _address, "/main": _main, "/forget": _forget, "/news": _news,
}  # fmt: skip

respond: Final = site("Hearth", LINKS, _SHOWING, _DOING)
