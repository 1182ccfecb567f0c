"""Planks, a board of cards in lists."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from html import escape
from typing import Final

from web import area, box, field, form, hidden, radios, select, setting, site, table, written

SCHEMA: Final = """
CREATE TABLE list (id INTEGER PRIMARY KEY, name, place INTEGER);
CREATE TABLE card (id INTEGER PRIMARY KEY, list INTEGER, place INTEGER, title UNIQUE, text, due, member, size INTEGER,
  archived INTEGER);
CREATE TABLE tag (card INTEGER, name, UNIQUE (card, name));
CREATE TABLE item (id INTEGER PRIMARY KEY, card INTEGER, text, done INTEGER);
CREATE TABLE comment (id INTEGER PRIMARY KEY, card INTEGER, member, text);
CREATE TABLE setting (name PRIMARY KEY, value);
"""
LISTS: Final = ("Ideas", "Next", "Doing", "Review", "Done")
MEMBERS: Final = ("Ana", "Ben", "Cleo", "Dan")
TAGS: Final = ("bug", "design", "docs", "urgent")
VERBS: Final = ("Fix", "Test", "Draw", "Write", "Check", "Move", "Translate", "Print")
THINGS: Final = ("the map", "the menu", "the login", "the poster", "the search", "the guide", "the prices", "the logo")
ITEMS: Final = ("Ask the others", "Make a sketch", "Measure it", "Find a name", "Send it round", "Clean up")
MAX_DIGITS: Final = 6
LINKS: Final = {"Board": "/", "New card": "/new", "Archive": "/archive", "Lists": "/lists"}


def fill(rng: random.Random, db: sqlite3.Connection) -> None:
    db.executescript(SCHEMA)
    today = date(2026, 2, 1) + timedelta(rng.randrange(300))
    db.executemany("INSERT INTO setting VALUES (?, ?)", [("today", f"{today}"), ("me", rng.choice(MEMBERS))])
    db.executemany("INSERT INTO list VALUES (NULL, ?, ?)", [(name, place) for place, name in enumerate(LISTS)])
    titles = [f"{verb} {thing}" for verb in VERBS for thing in THINGS]
    counts = [4, 4, 3, 3, 4]
    rng.shuffle(counts)
    places = [(number, place) for number, count in enumerate(counts, 1) for place in range(count)]
    places += [(rng.randint(1, 5), 100 + place) for place in range(3)]
    dues = rng.sample(range(-20, 40), len(places))
    for (number, place), title, due in zip(places, rng.sample(titles, len(places)), dues, strict=True):
        given = (number, place, title, f"{today + timedelta(due)}", rng.choice(MEMBERS), rng.choice((1, 2, 3, 5, 8)))
        card = db.execute("INSERT INTO card VALUES (NULL, ?, ?, ?, '', ?, ?, ?, ?)", (*given, place >= 100)).lastrowid
        for tag in rng.sample(TAGS, rng.choice((0, 1, 1, 2))):
            db.execute("INSERT INTO tag VALUES (?, ?)", (card, tag))
        for text in rng.sample(ITEMS, rng.choice((0, 3))):
            db.execute("INSERT INTO item VALUES (NULL, ?, ?, ?)", (card, text, rng.random() < 0.4))
        for text in rng.sample(("I have begun.", "Why?", "This can wait.", "Looks good."), rng.choice((0, 0, 1))):
            db.execute("INSERT INTO comment VALUES (NULL, ?, ?, ?)", (card, rng.choice(MEMBERS), text))


def put(db: sqlite3.Connection, card: int, to: int, before: int | None = None) -> None:
    """Put a card into a list, before another or at its end; places count from 0 without gaps."""
    (was,) = db.execute("SELECT list FROM card WHERE id = ?", (card,)).fetchone()
    rest = [row["id"] for row in cards(db, to) if row["id"] != card]
    rest.insert(rest.index(before) if before in rest else len(rest), card)
    db.execute("UPDATE card SET list = ?, archived = 0 WHERE id = ?", (to, card))
    _number(db, rest)
    _number(db, [row["id"] for row in cards(db, was)])


def cards(db: sqlite3.Connection, number: int) -> list[sqlite3.Row]:
    return db.execute("SELECT * FROM card WHERE list = ? AND NOT archived ORDER BY place", (number,)).fetchall()


def archive(db: sqlite3.Connection, card: int) -> None:
    (number,) = db.execute("SELECT list FROM card WHERE id = ?", (card,)).fetchone()
    db.execute("UPDATE card SET archived = 1, place = 100 WHERE id = ?", (card,))
    _number(db, [row["id"] for row in cards(db, number)])


def _number(db: sqlite3.Connection, ids: Sequence[int]) -> None:
    db.executemany("UPDATE card SET place = ? WHERE id = ?", [(place, each) for place, each in enumerate(ids)])


def _lists(db: sqlite3.Connection) -> dict[str, int]:
    return {row["name"]: row["id"] for row in db.execute("SELECT * FROM list ORDER BY place")}


def _tags(db: sqlite3.Connection, card: int) -> list[str]:
    return [row["name"] for row in db.execute("SELECT name FROM tag WHERE card = ? ORDER BY name", (card,))]


# ── what is shown ────────────────────────────────────────────────────────────────────────────────────────────────────


def _board(db: sqlite3.Connection, rest: str, query: Mapping[str, str]) -> tuple[str, str]:
    of = query.get("of", "")
    lists = "".join(
        f'<div data-list="{number}" role="list" aria-label="{escape(name)}"><h2>{escape(name)}</h2>'
        + "".join(_card(db, row) for row in cards(db, number) if of in ("", row["member"]))
        + "</div>"
        for name, number in _lists(db).items()
    )
    members = "".join(f'<a href="/?of={member}">{member}</a>' for member in MEMBERS)
    me = f"You are {setting(db, 'me')}. Today is {setting(db, 'today')}."
    return (
        "Board",
        f'<div class="tabs">{me} Cards of <a href="/">all</a>{members}</div><div class="lists">{lists}</div>',
    )


def _card(db: sqlite3.Connection, row: sqlite3.Row) -> str:
    tags = "".join(f'<span class="tag">{tag}</span>' for tag in _tags(db, row["id"]))
    late = " late" * (row["due"] < setting(db, "today"))
    return (
        f'<div data-card="{row["id"]}" role="listitem" aria-label="Card {escape(row["title"])}">'
        f'<a href="/card/{row["id"]}">{escape(row["title"])}</a><p class="quiet{late}">{row["due"]}</p>'
        f"<p>{row['member']} · {row['size']} {tags}</p></div>"
    )


def _open(db: sqlite3.Connection, rest: str, query: Mapping[str, str]) -> tuple[str, str]:
    row = db.execute(
        "SELECT card.*, list.name FROM card JOIN list ON list.id = list WHERE card.id = ?", (rest,)
    ).fetchone()
    if row is None:
        return "Nothing here", ""
    this, tags = hidden("card", rest), _tags(db, row["id"])
    edit = this + field("Title", "title", row["title"], 40) + area("Text", "text", row["text"], 2)
    edit += (
        "<div>" + field("Due (YYYY-MM-DD)", "due", row["due"], 12) + field("Size", "size", row["size"], 4) + "</div>"
    )
    edit += radios("Member", "member", MEMBERS, row["member"])
    edit += (
        "<fieldset><legend>Tags</legend>" + "".join(box(tag, f"tag-{tag}", tag in tags) for tag in TAGS) + "</fieldset>"
    )
    move = this + select("Move to the end of", "list", list(_lists(db)), row["name"])
    moving = form("/move", move, "Move", kind="inline") + form("/away", this, "Archive card", kind="inline")
    items = "".join(
        form(
            "/item",
            hidden("item", item["id"]) + box(item["text"], "done", item["done"]),
            "Save",
            f"Save {item['text']}",
        )
        for item in db.execute("SELECT * FROM item WHERE card = ? ORDER BY id", (rest,))
    )
    items += form("/items", this + field("New item", "text"), "Add item")
    said = table([
        (each["member"], escape(each["text"]), form("/unsay", hidden("comment", each["id"]), "Delete",
                                                   f"Delete “{escape(each['text'])}”"))
        for each in db.execute("SELECT * FROM comment WHERE card = ? ORDER BY id", (rest,))
    ])  # fmt: skip
    say = form("/say", this + field("Comment", "text", size=50), "Add comment")
    where = "archived" if row["archived"] else f"in {escape(row['name'])}"
    return row["title"], (
        f'<p class="quiet">This card is {where}.</p>{moving}{form("/save", edit, "Save card", kind="tall")}'
        f"<h2>Items</h2>{items}<h2>Comments</h2>{said}{say}"
    )


def _new(db: sqlite3.Connection, rest: str, query: Mapping[str, str]) -> tuple[str, str]:
    inner = field("Title", "title", size=40) + "<div>" + field("Due (YYYY-MM-DD)", "due", size=12)
    inner += field("Size", "size", 1, 4) + "</div>" + radios("Member", "member", MEMBERS, setting(db, "me"))
    return "New card", form(
        "/new", inner + radios("List", "list", list(_lists(db)), "Ideas"), "Create card", kind="tall"
    )


def _archive(db: sqlite3.Connection, rest: str, query: Mapping[str, str]) -> tuple[str, str]:
    rows = db.execute(
        "SELECT card.*, name FROM card JOIN list ON list.id = list WHERE archived ORDER BY title"
    ).fetchall()
    return "Archive", table([
        (f'<a href="/card/{row["id"]}">{escape(row["title"])}</a>', row["due"], row["member"], f"was in {row['name']}",
         form("/back", hidden("card", row["id"]), "Bring back", f"Bring back {escape(row['title'])}"))
        for row in rows
    ])  # fmt: skip


def _edit_lists(db: sqlite3.Connection, rest: str, query: Mapping[str, str]) -> tuple[str, str]:
    lines: list[Sequence[str]] = []
    for name, number in _lists(db).items():
        this, label = hidden("list", number), escape(name)
        rename = f'<input name="name" value="{label}" aria-label="Name of {label}">'
        doing = form("/rename", this + rename, "Rename", f"Rename {label}", "inline")
        doing += form("/left", this, "Move to the left", f"Move {label} to the left", "inline")
        doing += form("/clear", this, "Archive its cards", f"Archive the cards of {label}", "inline")
        lines.append((label, doing))
    return "Lists", table(lines) + form("/list", field("New list", "name"), "Add list")


# ── what is done ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _save(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    title, size, card = written(given["title"]), given["size"].strip(), given["card"]
    change = "UPDATE OR IGNORE card SET title = ?, text = ?, due = ?, member = ?, size = ? WHERE id = ?"
    if title and size.isdecimal() and len(size) < MAX_DIGITS:
        db.execute(change, (title, written(given["text"]), written(given["due"]), given["member"], int(size), card))
        db.execute("DELETE FROM tag WHERE card = ?", (card,))
        db.executemany("INSERT INTO tag VALUES (?, ?)", [(card, tag) for tag in TAGS if f"tag-{tag}" in given])
    return f"/card/{card}"


def _create(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    title, size, number = written(given["title"]), given["size"].strip(), _lists(db)[given["list"]]
    if title and size.isdecimal() and len(size) < MAX_DIGITS:
        row = (number, len(cards(db, number)), title, written(given["due"]), given["member"], int(size))
        db.execute("INSERT OR IGNORE INTO card VALUES (NULL, ?, ?, ?, '', ?, ?, ?, 0)", row)
    return "/"


def _move(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    put(db, int(given["card"]), _lists(db)[given["list"]])
    return "/"


def _drop(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    """A card was dragged onto a list, or onto the card before which it is to be."""
    if "list" in given:
        put(db, int(given["held"]), int(given["list"]))
    else:
        (number,) = db.execute("SELECT list FROM card WHERE id = ?", (given["card"],)).fetchone()
        put(db, int(given["held"]), number, int(given["card"]))
    return "/"


def _away(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    archive(db, int(given["card"]))
    return "/"


def _back(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    (number,) = db.execute("SELECT list FROM card WHERE id = ?", (given["card"],)).fetchone()
    put(db, int(given["card"]), number)
    return "/archive"


def _clear(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    for row in cards(db, int(given["list"])):
        archive(db, row["id"])
    return "/lists"


def _tick(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    db.execute("UPDATE item SET done = ? WHERE id = ?", ("done" in given, given["item"]))
    (card,) = db.execute("SELECT card FROM item WHERE id = ?", (given["item"],)).fetchone()
    return f"/card/{card}"


def _add_item(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    if text := written(given["text"]):
        db.execute("INSERT INTO item VALUES (NULL, ?, ?, 0)", (given["card"], text))
    return f"/card/{given['card']}"


def _say(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    if text := written(given["text"]):
        db.execute("INSERT INTO comment VALUES (NULL, ?, ?, ?)", (given["card"], setting(db, "me"), text))
    return f"/card/{given['card']}"


def _unsay(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    (card,) = db.execute("SELECT card FROM comment WHERE id = ?", (given["comment"],)).fetchone()
    db.execute("DELETE FROM comment WHERE id = ?", (given["comment"],))
    return f"/card/{card}"


def _rename(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    if name := written(given["name"]):
        db.execute("UPDATE list SET name = ? WHERE id = ?", (name, given["list"]))
    return "/lists"


def _left(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    order = list(_lists(db).values())
    at = order.index(int(given["list"]))
    order.insert(max(0, at - 1), order.pop(at))
    db.executemany("UPDATE list SET place = ? WHERE id = ?", [(place, each) for place, each in enumerate(order)])
    return "/lists"


def _add_list(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    if (name := written(given["name"])) and name not in _lists(db):
        db.execute("INSERT INTO list VALUES (NULL, ?, ?)", (name, len(_lists(db))))
    return "/lists"


_SHOWING: Final = {"": _board, "card": _open, "new": _new, "archive": _archive, "lists": _edit_lists}
_DOING: Final = {
    "/save": _save, "/new": _create, "/move": _move, "/drop": _drop, "/away": _away, "/back": _back, "/clear": _clear,
    "/item": _tick, "/items": _add_item, "/say": _say, "/unsay": _unsay, "/rename": _rename, "/left": _left,
    "/list": _add_list,
}  # fmt: skip

respond: Final = site("Planks", LINKS, _SHOWING, _DOING)
