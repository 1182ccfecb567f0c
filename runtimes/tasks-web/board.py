"""Tasks on the board."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import board_site
from web import Hands, SiteTask, besides, database, instead, one, run

Given = dict[str, Any]
P = Mapping[str, Any]

_CARD = "SELECT card.*, list.name AS of FROM card JOIN list ON list.id = list WHERE NOT archived"


class _Board(SiteTask):
    site = "Planks"

    def fill(self, rng: random.Random, db: sqlite3.Connection) -> None:
        board_site.fill(rng, db)


def _card(rng: random.Random, db: sqlite3.Connection, where: str = "1", p: P | None = None) -> Given:
    row = one(rng, db, f"{_CARD} AND {where}", p)
    return {name: row[name] for name in ("id", "title", "list", "of", "due", "member", "size")}


def _another(rng: random.Random, names: tuple[str, ...], than: str) -> str:
    return rng.choice([name for name in names if name != than])


def _open(hands: Hands, title: str) -> None:
    hands.click("Board", title)


def _move(hands: Hands, title: str, to: str) -> None:
    _open(hands, title)
    hands.choose("Move to the end of", board_site.LISTS.index(to))
    hands.click("Move")


class BoardMove(_Board):
    words = "Move the card “{title}” to the end of the list {to}."

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        p = _card(rng, db)
        return {"id": p["id"], "title": p["title"], "to": _another(rng, board_site.LISTS, p["of"])}

    def do(self, db: sqlite3.Connection, p: P) -> None:
        board_site.put(db, p["id"], board_site.LISTS.index(p["to"]) + 1)

    def solve(self, p: P, hands: Hands) -> None:
        _move(hands, p["title"], p["to"])

    trap_first = besides("UPDATE card SET place = place + (CASE id WHEN :id THEN -1 ELSE 1 END)")

    def trap_next_list(self, p: P, home: Path) -> None:
        with database(home, self.site) as db:
            board_site.put(db, p["id"], (board_site.LISTS.index(p["to"]) + 1) % 5 + 1)


class BoardDrag(_Board):
    words = "Drag the card “{title}” into the list {of}, right before the card “{before}”."

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        target = _card(rng, db, "card.place > 0")
        p = _card(rng, db, "list != :list", target)
        to = {"of": target["of"], "_to": target["list"], "before": target["title"], "_before": target["id"]}
        return {"id": p["id"], "title": p["title"], **to}

    def do(self, db: sqlite3.Connection, p: P) -> None:
        board_site.put(db, p["id"], p["_to"], p["_before"])

    def solve(self, p: P, hands: Hands) -> None:
        hands.drag("Card " + p["title"], "Card " + p["before"])

    def trap_end(self, p: P, home: Path) -> None:
        with database(home, self.site) as db:
            board_site.put(db, p["id"], p["_to"])

    def trap_other_way(self, p: P, home: Path) -> None:
        with database(home, self.site) as db:
            (number,) = db.execute("SELECT list FROM card WHERE id = ?", (p["id"],)).fetchone()
            board_site.put(db, p["_before"], number, p["id"])


class BoardNew(_Board):
    words = "Create the card “{title}” in the list {of}: due on {due}, of size {size}, for {member}."

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        title = (
            f"{rng.choice(('Paint', 'Buy', 'Sell', 'Mend'))} {rng.choice(('a fence', 'a bench', 'a chair', 'a tent'))}"
        )
        due = f"2027-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
        member = _another(rng, board_site.MEMBERS, board_site.setting(db, "me"))
        return {
            "title": title,
            "of": rng.choice(board_site.LISTS[1:]),
            "due": due,
            "size": rng.randint(2, 9),
            "member": member,
        }

    change = (
        "INSERT INTO card SELECT NULL, list.id, (SELECT count(*) FROM card WHERE list = list.id AND NOT archived), "
        ":title, '', :due, :member, :size, 0 FROM list WHERE name = :of"
    )

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("New card")
        for name, key in (("Title", "title"), ("Due (YYYY-MM-DD)", "due"), ("Size", "size")):
            hands.fill(name, p[key])
        hands.click(p["member"], p["of"], role="radio")
        hands.click("Create card")

    trap_size = besides("UPDATE card SET size = 1 WHERE title = :title")
    trap_list = besides("UPDATE card SET list = 1, place = 9 WHERE title = :title")
    trap_me = besides("UPDATE card SET member = (SELECT value FROM setting WHERE name = 'me') WHERE title = :title")


class BoardHandOver(_Board):
    words = "Give the {several} cards of {member} in the list {of} to {other}."
    change = "UPDATE card SET member = :other WHERE member = :member AND list = :list AND NOT archived"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        p = _card(rng, db)
        run(db, "UPDATE card SET member = :member WHERE list = :list AND place < 2", p)
        names = db.execute(f"{_CARD} AND list = :list AND member = :member", p).fetchall()
        other = _another(rng, board_site.MEMBERS, p["member"])
        given = {"several": len(names), "member": p["member"], "of": p["of"], "other": other, "list": p["list"]}
        db.execute("UPDATE card SET member = ? WHERE list != ? AND place = 0", (p["member"], p["list"]))
        return {**given, "names": [row["title"] for row in names]}

    def solve(self, p: P, hands: Hands) -> None:
        for title in p["names"]:
            _open(hands, title)
            hands.click(p["other"], role="radio")
            hands.click("Save card")

    trap_everywhere = instead("UPDATE card SET member = :other WHERE member = :member AND NOT archived")
    trap_whole_list = besides("UPDATE card SET size = size + 1 WHERE list = :list AND member = :other")


class BoardPutOff(_Board):
    words = "The card “{title}” takes {days} days longer: put off the day on which it is due."
    change = "UPDATE card SET due = :new WHERE id = :id"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        p, days = _card(rng, db), rng.randint(2, 20)
        new, today = (
            f"{date.fromisoformat(day) + timedelta(days)}" for day in (p["due"], board_site.setting(db, "today"))
        )
        return {"id": p["id"], "title": p["title"], "days": days, "new": new, "_from_today": today}

    def solve(self, p: P, hands: Hands) -> None:
        _open(hands, p["title"])
        hands.fill("Due (YYYY-MM-DD)", p["new"])
        hands.click("Save card")

    trap_from_today = instead("UPDATE card SET due = :_from_today WHERE id = :id")
    trap_another_too = besides("UPDATE card SET due = :new WHERE id = :id % 18 + 1")


class BoardUrgent(_Board):
    words = "Tag the cards of the list {of} that are due before {day} as urgent."
    change = (
        "INSERT OR IGNORE INTO tag SELECT id, 'urgent' FROM card WHERE list = :list AND due < :day AND NOT archived"
    )

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        p = _card(rng, db)
        rows = sorted(board_site.cards(db, p["list"]), key=lambda row: row["due"])
        split = rng.randint(1, 2)
        db.execute("DELETE FROM tag WHERE name = 'urgent'")
        names = [row["title"] for row in rows[:split]]
        return {"of": p["of"], "list": p["list"], "day": rows[split]["due"], "names": names}

    def solve(self, p: P, hands: Hands) -> None:
        for title in p["names"]:
            _open(hands, title)
            hands.click("urgent", "Save card")

    trap_that_day = instead(
        "INSERT INTO tag SELECT id, 'urgent' FROM card WHERE list = :list AND due <= :day AND NOT archived"
    )
    trap_bug = besides("UPDATE tag SET name = 'later' WHERE name = 'urgent'")


class BoardComment(_Board):
    words = "Add this comment to the card “{title}”: {said}"
    change = "INSERT INTO comment SELECT NULL, :id, value, :said FROM setting WHERE name = 'me'"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        p = _card(rng, db)
        said = (
            f"{rng.choice(('Ready', 'Half of it', 'Nearly done', 'More'))} by {rng.choice(('noon', 'Friday', 'May'))}."
        )
        return {"id": p["id"], "title": p["title"], "said": said}

    def solve(self, p: P, hands: Hands) -> None:
        _open(hands, p["title"])
        hands.fill("Comment", p["said"])
        hands.click("Add comment")

    trap_text = instead("UPDATE card SET text = :said WHERE id = :id")
    trap_other = instead("INSERT INTO comment SELECT NULL, :id % 18 + 1, value, :said FROM setting WHERE name = 'me'")


class BoardItems(_Board):
    words = "On the card “{title}” everything is done but “{open}”: tick its items so."
    split = "test"
    change = "UPDATE item SET done = (text != :open) WHERE card = :id"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        p = _card(rng, db)
        db.execute("DELETE FROM item WHERE card = ?", (p["id"],))
        texts = rng.sample(board_site.ITEMS, 4)
        still = rng.randrange(4)
        ticked = rng.choice([number for number in range(4) if number != still])
        for number, text in enumerate(texts):
            db.execute("INSERT INTO item VALUES (NULL, ?, ?, ?)", (p["id"], text, number == ticked))
        todo = [text for number, text in enumerate(texts) if number not in (still, ticked)]
        return {"id": p["id"], "title": p["title"], "open": texts[still], "todo": todo}

    def solve(self, p: P, hands: Hands) -> None:
        _open(hands, p["title"])
        for text in p["todo"]:
            hands.click(text, role="checkbox")
            hands.click("Save " + text)

    trap_all = instead("UPDATE item SET done = 1 WHERE card = :id")
    trap_untick = besides("UPDATE item SET done = 1 - done WHERE card = :id")


class BoardClearUp(_Board):
    words = "Archive the cards of the list Done that are due before {day}."

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        rows = sorted(board_site.cards(db, 5), key=lambda row: row["due"])
        split = rng.randint(1, 2)
        return {
            "day": rows[split]["due"],
            "names": [row["title"] for row in rows[:split]],
            "ids": [row["id"] for row in rows],
        }

    def do(self, db: sqlite3.Connection, p: P) -> None:
        for number in p["ids"][: len(p["names"])]:
            board_site.archive(db, number)

    def solve(self, p: P, hands: Hands) -> None:
        for title in p["names"]:
            _open(hands, title)
            hands.click("Archive card")

    def trap_that_day(self, p: P, home: Path) -> None:
        with database(home, self.site) as db:
            for number in p["ids"][: len(p["names"]) + 1]:
                board_site.archive(db, number)

    def trap_all(self, p: P, home: Path) -> None:
        with database(home, self.site) as db:
            for number in p["ids"]:
                board_site.archive(db, number)


class BoardBack(_Board):
    words = "Bring the card “{title}” back from the archive, and move it to the end of the list {to}."
    split = "test"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        p = one(rng, db, "SELECT card.id, title, list, name FROM card JOIN list ON list.id = list WHERE archived")
        return {"id": p["id"], "title": p["title"], "_was": p["list"], "to": _another(rng, board_site.LISTS, p["name"])}

    def do(self, db: sqlite3.Connection, p: P) -> None:
        board_site.put(db, p["id"], board_site.LISTS.index(p["to"]) + 1)

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("Archive", "Bring back " + p["title"])
        _move(hands, p["title"], p["to"])

    def trap_old_list(self, p: P, home: Path) -> None:
        with database(home, self.site) as db:
            board_site.put(db, p["id"], p["_was"])

    trap_all = besides("UPDATE card SET archived = 0, place = 8 WHERE archived")


class BoardRename(_Board):
    words = "Rename the list {of} to {new}."
    change = "UPDATE list SET name = :new WHERE name = :of"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        return {
            "of": rng.choice(board_site.LISTS),
            "new": rng.choice(("Waiting", "Blocked", "This week", "Soon", "Later", "Tests")),
        }

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("Lists")
        hands.fill("Name of " + p["of"], p["new"])
        hands.click("Rename " + p["of"])

    trap_new = instead("INSERT INTO list VALUES (NULL, :new, 5)")
    trap_moved = besides("UPDATE list SET place = 4 - place")


class BoardNewList(_Board):
    words = "Add the list {new}, and have it right before the list {of}."
    change = (
        "INSERT INTO list SELECT NULL, :new, place FROM list WHERE name = :of; "
        "UPDATE list SET place = place + 1 WHERE place >= (SELECT place FROM list WHERE name = :of) AND name != :new"
    )

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        return {
            "new": rng.choice(("Waiting", "Blocked", "This week", "Soon", "Tests")),
            "of": rng.choice(board_site.LISTS[2:]),
        }

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("Lists")
        hands.fill("New list", p["new"])
        hands.click("Add list", *[f"Move {p['new']} to the left"] * (5 - board_site.LISTS.index(p["of"])))

    trap_end = instead("INSERT INTO list VALUES (NULL, :new, 5)")
    trap_behind = besides(
        "UPDATE list SET place = place + (CASE name WHEN :new THEN 1 ELSE -1 END) WHERE name IN (:new, :of)"
    )


class BoardUnsay(_Board):
    words = "Delete the comment “{said}” of {member} from the card “{title}”."
    change = "DELETE FROM comment WHERE card = :id AND text = :said"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        p, member = _card(rng, db), rng.choice(board_site.MEMBERS)
        said, other = rng.sample(("Not yet.", "In a week.", "Too dear.", "Please hurry."), 2)
        for text in (other, said, f"{said[:-1]}?"):
            db.execute("INSERT INTO comment VALUES (NULL, ?, ?, ?)", (p["id"], member, text))
        return {"id": p["id"], "title": p["title"], "said": said, "member": member, "_other": other}

    def solve(self, p: P, hands: Hands) -> None:
        _open(hands, p["title"])
        hands.click(f"Delete “{p['said']}”")

    trap_other = instead("DELETE FROM comment WHERE card = :id AND text = :_other")
    trap_all = instead("DELETE FROM comment WHERE card = :id")


class BoardLargest(_Board):
    words = "Move the card of the list {of} that has the {most} size to the end of the list {to}."
    split = "test"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        p, most = _card(rng, db), rng.choice(("largest", "smallest"))
        rows = board_site.cards(db, p["list"])
        right, wrong = rng.sample(rows, 2)
        sizes = {right["id"]: 13 if most == "largest" else 1, wrong["id"]: 8 if most == "largest" else 2}
        for row in rows:
            db.execute("UPDATE card SET size = ? WHERE id = ?", (sizes.get(row["id"], rng.choice((3, 5))), row["id"]))
        to = _another(rng, board_site.LISTS, p["of"])
        return {
            "of": p["of"],
            "most": most,
            "to": to,
            "_id": right["id"],
            "_title": right["title"],
            "_wrong": wrong["id"],
        }

    def do(self, db: sqlite3.Connection, p: P) -> None:
        board_site.put(db, p["_id"], board_site.LISTS.index(p["to"]) + 1)

    def solve(self, p: P, hands: Hands) -> None:
        _move(hands, p["_title"], p["to"])

    def trap_second(self, p: P, home: Path) -> None:
        with database(home, self.site) as db:
            board_site.put(db, p["_wrong"], board_site.LISTS.index(p["to"]) + 1)

    trap_resized = besides("UPDATE card SET size = size + 1 WHERE id = :_id")


class BoardSplit(_Board):
    words = "Add the items “{first}” and “{second}”, in this order, to the card “{title}”."
    change = "INSERT INTO item VALUES (NULL, :id, :first, 0); INSERT INTO item VALUES (NULL, :id, :second, 0)"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        p, (first, second) = (
            _card(rng, db),
            rng.sample(("Call the printer", "Count the chairs", "Pay", "Pack", "Ask Eve"), 2),
        )
        return {"id": p["id"], "title": p["title"], "first": first, "second": second}

    def solve(self, p: P, hands: Hands) -> None:
        _open(hands, p["title"])
        for text in (p["first"], p["second"]):
            hands.fill("New item", text)
            hands.click("Add item")

    trap_order = instead(
        "INSERT INTO item VALUES (NULL, :id, :second, 0); INSERT INTO item VALUES (NULL, :id, :first, 0)"
    )
    trap_done = besides("UPDATE item SET done = 1 WHERE text IN (:first, :second)")


class BoardSort(_Board):
    words = "Sort the cards of the list {of} by the day on which they are due, the first one on top."

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        p = _card(rng, db, "card.place = 2")
        for row in board_site.cards(db, p["list"])[3:]:
            board_site.archive(db, row["id"])
        rows = board_site.cards(db, p["list"])
        order = rng.choice([(1, 0, 2), (0, 2, 1), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
        days = sorted(row["due"] for row in rows)
        for row, place in zip(rows, order, strict=True):
            db.execute("UPDATE card SET due = ? WHERE id = ?", (days[place], row["id"]))
        by_day = sorted(zip(order, rows, strict=True), key=lambda each: each[0])
        return {"of": p["of"], "list": p["list"], "names": [row["title"] for _, row in by_day]}

    change = (
        "UPDATE card SET place = (SELECT count(*) FROM card other WHERE other.list = card.list AND "
        "NOT other.archived AND other.due < card.due) WHERE list = :list AND NOT archived"
    )

    def solve(self, p: P, hands: Hands) -> None:
        first, second, third = ("Card " + title for title in p["names"])
        hands.drag(second, third)
        hands.drag(first, second)

    trap_backwards = besides("UPDATE card SET place = 2 - place WHERE list = :list AND NOT archived")
    trap_days = instead("UPDATE card SET due = '2026-01-0' || (place + 1) WHERE list = :list AND NOT archived")
