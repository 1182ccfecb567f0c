"""Pigeon, a mail program: folders, mails, contacts, rules, settings."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from html import escape
from typing import Any, Final

from web import area, field, form, hidden, select, setting, site, table, written

SCHEMA: Final = """
CREATE TABLE contact (id INTEGER PRIMARY KEY, name UNIQUE, address);
CREATE TABLE folder (name PRIMARY KEY);
CREATE TABLE message (id INTEGER PRIMARY KEY, folder, sender, recipient, subject, body, day, seen INTEGER,
  starred INTEGER);
CREATE TABLE rule (sender, folder);
CREATE TABLE setting (name PRIMARY KEY, value);
"""
ME: Final = "me@example.org"
PEOPLE: Final = (
    ("Anna Berg", "Anne Berg"), ("Jon Hale", "John Hale"), ("Maria Lind", "Marta Lind"), ("Erik Falk", "Eric Falk"),
    ("Tom Reed", "Tim Reed"), ("Lena Voss", "Lea Voss"),
)  # fmt: skip
FOLDERS: Final = ("Inbox", "Archive", "Sent", "Drafts", "Trash", "Bills", "Family", "Travel")
TOPICS: Final = (
    "the garden", "the choir", "our trip", "the roof", "Saturday", "the old car", "the recipe", "the concert",
    "the keys", "the photos", "the bicycle", "the tickets", "the meeting", "the cat", "the piano", "the boat",
)  # fmt: skip
BODIES: Final = (
    "Can you tell me what you think of it?", "I have thought about it again.", "Let us talk about it next week.",
    "Thank you for your help with it!", "It is done at last.",
)  # fmt: skip
ON_A_PAGE: Final = 12
LINKS: Final = {
    "Inbox": "/", "Write": "/write", "Contacts": "/contacts", "Rules": "/rules", "Settings": "/settings",
}  # fmt: skip


def address_of(name: str) -> str:
    return f"{name.lower().replace(' ', '.')}@example.org"


def fill(rng: random.Random, db: sqlite3.Connection) -> None:
    db.executescript(SCHEMA)
    names = [name for pair in rng.sample(PEOPLE, 5) for name in pair]
    db.executemany("INSERT INTO contact VALUES (NULL, ?, ?)", [(name, address_of(name)) for name in sorted(names)])
    db.executemany("INSERT INTO folder VALUES (?)", [(name,) for name in FOLDERS])
    today = date(2026, 2, 1) + timedelta(rng.randrange(300))
    settings = {"today": f"{today}", "signature": "", "away": "", "away_from": "", "away_until": ""}
    db.executemany("INSERT INTO setting VALUES (?, ?)", settings.items())
    mails = [
        (address_of(rng.choice(names)), f"{rng.choice(('About', 'News of', 'Again:', 'A word on'))} {topic}", body)
        for topic in rng.sample(TOPICS, 15)
        for body in [rng.choice(BODIES)]
    ]
    for number, amount in zip(rng.sample(range(1000, 9999), 4), rng.sample(range(2000, 90000), 4), strict=True):
        body = f"Please pay {amount / 100:.2f} euros within {rng.choice((14, 30))} days."
        mails.append((rng.choice(("billing@power.example", "office@water.example")), f"Invoice {number}", body))
    rng.shuffle(mails)
    days = sorted(rng.sample(range(1, 60), len(mails)), reverse=True)
    for ago, mail in zip(days, mails, strict=True):
        add(db, "Inbox", *mail, day=f"{today - timedelta(ago)}", seen=rng.random() < 0.5)
    for place, count in (("Archive", 4), ("Family", 2), ("Trash", 3), ("Sent", 2)):
        for _ in range(count):
            other, subject = address_of(rng.choice(names)), f"{place} note {rng.randint(100, 999)}"
            both = (ME, other) if place == "Sent" else (other, ME)
            day = f"{today - timedelta(rng.randint(60, 90))}"
            add(db, place, both[0], subject, rng.choice(BODIES), day=day, recipient=both[1])


def add(
    db: sqlite3.Connection,
    folder: str,
    sender: str,
    subject: str,
    body: str,
    *,
    recipient: str = ME,
    day: str = "",
    seen: bool = True,
) -> None:
    """Put a mail into a folder, of today without a ``day``."""
    given = (folder, sender, recipient, subject, body, day or setting(db, "today"), seen)
    db.execute("INSERT INTO message VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, 0)", given)


def _button(do: str, label: str) -> str:
    return f'<button name="do" value="{do}">{label}</button> '


def _folders(db: sqlite3.Connection) -> list[str]:
    return [row["name"] for row in db.execute("SELECT name FROM folder ORDER BY rowid")]


# ── what is shown ────────────────────────────────────────────────────────────────────────────────────────────────────


def _folder(db: sqlite3.Connection, rest: str, query: Mapping[str, str]) -> tuple[str, str]:
    folder, words, number = rest or "Inbox", query.get("words", ""), max(0, int(query.get("page", "0")))
    rows = db.execute("SELECT * FROM message WHERE folder = ? ORDER BY day DESC, id DESC", (folder,)).fetchall()
    found = [row for row in rows if words.lower() in f"{row['sender']} {row['subject']}".lower()]
    lines = [
        (
            f'<input type="checkbox" name="m{row["id"]}" aria-label="Choose {escape(row["subject"])}">',
            "★" if row["starred"] else "",
            _bold(row["recipient"] if folder in ("Sent", "Drafts") else row["sender"], row),
            f'<a href="/{"write/draft" if folder == "Drafts" else "mail"}/{row["id"]}">'
            f"{_bold(row['subject'] or 'no subject', row)}</a>",
            row["day"],
        )
        for row in found[number * ON_A_PAGE : (number + 1) * ON_A_PAGE]
    ]
    here = f"/folder/{escape(folder)}"
    ways = [("Newer", number - 1)] * (number > 0) + [("Older", number + 1)] * ((number + 1) * ON_A_PAGE < len(found))
    turn = "".join(f'<a href="{here}?words={escape(words)}&page={to}">{label}</a>' for label, to in ways)
    places = "".join(f'<a href="/folder/{escape(name)}">{escape(name)}</a>' for name in _folders(db))
    marks = {"seen": "Mark as read", "unseen": "Mark as unread", "star": "Star", "unstar": "Unstar"}
    tools = "".join(_button(do, label) for do, label in marks.items())
    tools += select("Move to", "to", _folders(db)) + _button("move", "Move")
    search = form(here, field("Search", "words", words), "Find", kind="inline", method="get")
    top = f'<div class="tabs">{places}</div><div>{search}<span class="tabs">{turn}</span></div>'
    listed = table(lines) if lines else "<p>There is no mail.</p>"
    return (
        folder,
        f'{top}<form method="post" action="/chosen">{hidden("here", f"/folder/{folder}")}{listed}{tools}</form>',
    )


def _bold(text: str, row: Mapping[str, Any]) -> str:
    return escape(text) if row["seen"] else f"<b>{escape(text)}</b>"


def _mail(db: sqlite3.Connection, rest: str, query: Mapping[str, str]) -> tuple[str, str]:
    row = db.execute("SELECT * FROM message WHERE id = ?", (rest,)).fetchone()
    if row is None:
        return "Nothing here", ""
    db.execute("UPDATE message SET seen = 1 WHERE id = ?", (rest,))
    about = (
        f"<p>From {escape(row['sender'])} to {escape(row['recipient'])} on {row['day']}, in {escape(row['folder'])}</p>"
    )
    ways = f'<p class="tabs"><a href="/write/reply/{rest}">Reply</a><a href="/write/forward/{rest}">Forward</a></p>'
    body = escape(row["body"]).replace("\n", "<br>")
    star = _button("unstar", "Unstar") if row["starred"] else _button("star", "Star")
    tools = select("Move to", "to", _folders(db), row["folder"]) + _button("move", "Move")
    this = hidden("here", f"/mail/{rest}") + hidden(f"m{rest}", "on")
    return row["subject"], (
        f'{about}<div class="note">{body}</div>{ways}<form method="post" action="/chosen">{this}{star}{tools}</form>'
    )


def _write(db: sqlite3.Connection, rest: str, query: Mapping[str, str]) -> tuple[str, str]:
    how, _, number = rest.partition("/")
    row = db.execute("SELECT * FROM message WHERE id = ?", (number,)).fetchone()
    to, subject, body, this = query.get("to", ""), "", "", ""
    if row is not None:
        subject, body = row["subject"], row["body"]
        if how == "reply":
            to, subject, body = row["sender"], f"Re: {subject}", ""
        elif how == "forward":
            subject = f"Fwd: {subject}"
        else:
            to, this = row["recipient"], hidden("draft", number)
    fields = field("To", "to", to, 50) + field("Subject", "subject", subject, 50) + area("Text", "body", body, 9)
    buttons = _button("send", "Send") + _button("keep", "Keep as a draft")
    return "Write", f'<form class="tall" method="post" action="/send">{this}{fields}{buttons}</form>'


def _contacts(db: sqlite3.Connection, rest: str, query: Mapping[str, str]) -> tuple[str, str]:
    lines: list[Sequence[str]] = []
    for row in db.execute("SELECT * FROM contact ORDER BY name"):
        name, this = escape(row["name"]), hidden("contact", row["id"])
        address = f'<input name="address" size="30" value="{escape(row["address"])}" aria-label="Address of {name}">'
        doing = form("/change", this + address, "Change", f"Change {name}", "inline")
        doing += form("/forget", this, "Delete", f"Delete {name}", "inline")
        lines.append(
            (name, doing, f'<a href="/write?to={escape(row["address"])}" aria-label="Write to {name}">Write</a>')
        )
    new = form("/contact", field("Name", "name") + field("Address", "address"), "Add contact")
    return "Contacts", table(lines) + new


def _rules(db: sqlite3.Connection, rest: str, query: Mapping[str, str]) -> tuple[str, str]:
    lines = [
        (f"From {escape(row['sender'])}", f"to {escape(row['folder'])}",
         form("/unrule", hidden("rule", row["rowid"]), "Delete", f"Delete the rule for {escape(row['sender'])}"))
        for row in db.execute("SELECT rowid, * FROM rule ORDER BY rowid")
    ]  # fmt: skip
    new = field("Mail from", "sender", "", 30) + select("goes to", "folder", _folders(db))
    folder = form("/folder", field("New folder", "name"), "Create folder")
    return "Rules", f"{table(lines)}{form('/rule', new, 'Add rule')}<h2>Folders</h2>{folder}"


def _settings(db: sqlite3.Connection, rest: str, query: Mapping[str, str]) -> tuple[str, str]:
    signature = form(
        "/settings", area("Signature", "signature", setting(db, "signature"), 3), "Save signature", kind="tall"
    )
    days = field("From (YYYY-MM-DD)", "away_from", setting(db, "away_from"), 12)
    days += field("Until (YYYY-MM-DD)", "away_until", setting(db, "away_until"), 12)
    away = form("/settings", area("Answer", "away", setting(db, "away"), 3) + days, "Save answer", kind="tall")
    return "Settings", f"<h2>Below each mail</h2>{signature}<h2>While you are away</h2>{away}"


# ── what is done ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _chosen(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    columns = {"seen": "seen = 1", "unseen": "seen = 0", "star": "starred = 1", "unstar": "starred = 0"}
    change = columns.get(given.get("do", ""), "folder = :to")
    for name in given:
        if name.startswith("m") and name[1:].isdecimal():
            db.execute(f"UPDATE message SET {change} WHERE id = :id", {"to": given.get("to"), "id": name[1:]})
    return given["here"]


def _send(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    """Send or keep a mail; whom it is to may be said by names of contacts."""
    known = {row["name"]: row["address"] for row in db.execute("SELECT * FROM contact")}
    to = ", ".join(sorted(known.get(each.strip(), each.strip()) for each in given["to"].split(",")))
    if "draft" in given:
        db.execute("DELETE FROM message WHERE id = ?", (given["draft"],))
    signature, body = setting(db, "signature"), written(given["body"])
    folder = "Drafts" if given.get("do") == "keep" or "@" not in to else "Sent"
    if signature and folder == "Sent":
        body += f"\n\n{signature}"
    add(db, folder, ME, written(given["subject"]), body, recipient=to)
    return f"/folder/{folder}"


def _change(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    db.execute("UPDATE contact SET address = ? WHERE id = ?", (written(given["address"]), given["contact"]))
    return "/contacts"


def _forget(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    db.execute("DELETE FROM contact WHERE id = ?", (given["contact"],))
    return "/contacts"


def _contact(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    if (name := written(given["name"])) and (address := written(given["address"])):
        db.execute("INSERT INTO contact VALUES (NULL, ?, ?) ON CONFLICT DO NOTHING", (name, address))
    return "/contacts"


def _rule(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    if sender := written(given["sender"]):
        db.execute("INSERT INTO rule VALUES (?, ?)", (sender, given["folder"]))
    return "/rules"


def _unrule(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    db.execute("DELETE FROM rule WHERE rowid = ?", (given["rule"],))
    return "/rules"


def _new_folder(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    if name := written(given["name"]):
        db.execute("INSERT INTO folder VALUES (?) ON CONFLICT DO NOTHING", (name,))
    return "/rules"


def _save(db: sqlite3.Connection, given: Mapping[str, str]) -> str:
    for name in ("signature", "away", "away_from", "away_until"):
        if name in given:
            db.execute("UPDATE setting SET value = ? WHERE name = ?", (written(given[name]), name))
    return "/settings"


_SHOWING: Final = {
    "": _folder, "folder": _folder, "mail": _mail, "write": _write, "contacts": _contacts, "rules": _rules,
    "settings": _settings,
}  # fmt: skip
_DOING: Final = {
    "/chosen": _chosen, "/send": _send, "/change": _change, "/forget": _forget, "/contact": _contact, "/rule": _rule,
    "/unrule": _unrule, "/folder": _new_folder, "/settings": _save,
}  # fmt: skip

respond: Final = site("Pigeon", LINKS, _SHOWING, _DOING)
