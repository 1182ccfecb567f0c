"""Tasks in the mail program."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping
from typing import Any

import mail_site
from web import Hands, SiteTask, besides, instead, one, run

Given = dict[str, Any]
P = Mapping[str, Any]

_INVOICES = "SELECT * FROM message WHERE subject LIKE 'Invoice%' ORDER BY id"
# A mail of the inbox, and another by someone of nearly the same name.
_LETTER = "SELECT id, subject, sender FROM message WHERE folder = 'Inbox' AND sender LIKE '%@example.org'"


class _Mail(SiteTask):
    site = "Pigeon"
    beside = ("message.id", "message.seen")

    def fill(self, rng: random.Random, db: sqlite3.Connection) -> None:
        mail_site.fill(rng, db)


def _pair(rng: random.Random, db: sqlite3.Connection) -> Given:
    """Return a contact, and the one whose name is nearly the same."""
    known = {row["name"] for row in db.execute("SELECT name FROM contact")}
    name, other = rng.sample(rng.choice([pair for pair in mail_site.PEOPLE if pair[0] in known]), 2)
    address, wrong = mail_site.address_of(name), mail_site.address_of(other)
    return {"name": name, "other": other, "address": address, "wrong": wrong}


def _letter(rng: random.Random, db: sqlite3.Connection) -> Given:
    return {**_pair(rng, db), "subject": rng.choice(mail_site.TOPICS).capitalize(), "body": _body(rng)}


def _some_of_one(rng: random.Random, db: sqlite3.Connection) -> Given:
    """Have two or three mails of the inbox come from a contact, and one from that of nearly the same name."""
    p, letters = _pair(rng, db), db.execute(_LETTER).fetchall()
    several = rng.randint(2, 3)
    for number, row in enumerate(rng.sample(letters, several + 1)):
        sender = p["wrong"] if number == several else p["address"]
        db.execute("UPDATE message SET sender = ? WHERE id = ?", (sender, row["id"]))
    named = "SELECT subject FROM message WHERE folder = 'Inbox' AND sender = :address"
    return {**p, "subjects": [row["subject"] for row in db.execute(named, p)]}


def _write(hands: Hands, p: P, button: str) -> None:
    hands.click("Contacts", "Write to " + p["name"])
    hands.fill("Subject", p["subject"])
    hands.fill("Text", p["body"])
    hands.click(button)


def _sent(folder: str = "Sent", to: str = ":address", subject: str = ":subject", body: str = ":body") -> str:
    """Return the statement that adds a mail of ours."""
    today = "(SELECT value FROM setting WHERE name = 'today')"
    return f"INSERT INTO message VALUES (NULL, '{folder}', 'me@example.org', {to}, {subject}, {body}, {today}, 1, 0)"


def _body(rng: random.Random) -> str:
    what = rng.choice(("I come", "We meet", "The train leaves", "Dinner is", "The shop opens"))
    return f"{what} at {rng.randint(1, 12)}:{rng.choice(('05', '10', '20', '35', '50'))}."


def _open(hands: Hands, subject: str) -> None:
    hands.fill("Search", subject)
    hands.click("Find", subject)


def _move(hands: Hands, p: P, folder: str) -> None:
    hands.choose("Move to", mail_site.FOLDERS.index(folder))
    hands.click("Move")


class MailSend(_Mail):
    words = "Send {name} a mail with the subject “{subject}” and the text: {body}"
    change = _sent()

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        return _letter(rng, db)

    def solve(self, p: P, hands: Hands) -> None:
        _write(hands, p, "Send")

    trap_other = instead(_sent(to=":wrong"))
    trap_draft = instead(_sent("Drafts"))
    trap_no_subject = instead(_sent(subject="''"))


class MailReply(_Mail):
    words = "Reply to the mail “{subject}” with the text: {body}"
    change = _sent(to=":sender", subject="'Re: ' || :subject")

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        return {**one(rng, db, _LETTER), "body": _body(rng)}

    def solve(self, p: P, hands: Hands) -> None:
        _open(hands, p["subject"])
        hands.click("Reply")
        hands.fill("Text", p["body"])
        hands.click("Send")

    trap_draft = instead(_sent("Drafts", ":sender", "'Re: ' || :subject"))
    trap_forward = instead(_sent(to=":sender", subject="'Fwd: ' || :subject"))
    trap_empty = instead(_sent(to=":sender", subject="'Re: ' || :subject", body="''"))


class MailForward(_Mail):
    words = "Forward the mail “{subject}” to {name}, as it is."
    split = "test"
    change = _sent(subject="'Fwd: ' || :subject")

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        invoice = rng.choice(db.execute(_INVOICES).fetchall())
        return {**_pair(rng, db), "subject": invoice["subject"], "body": invoice["body"]}

    def solve(self, p: P, hands: Hands) -> None:
        _open(hands, p["subject"])
        hands.click("Forward")
        hands.fill("To", p["address"])
        hands.click("Send")

    trap_other = instead(_sent(to=":wrong", subject="'Fwd: ' || :subject"))
    trap_empty = instead(_sent(subject="'Fwd: ' || :subject", body="''"))


class MailThrowAway(_Mail):
    words = "Move all mails from {name} that are in the inbox to the trash."
    change = "UPDATE message SET folder = 'Trash' WHERE folder = 'Inbox' AND sender = :address"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        return _some_of_one(rng, db)

    def solve(self, p: P, hands: Hands) -> None:
        hands.fill("Search", p["address"])
        hands.click("Find", *("Choose " + subject for subject in p["subjects"]))
        _move(hands, p, "Trash")

    trap_both = instead("UPDATE message SET folder = 'Trash' WHERE folder = 'Inbox' AND sender IN (:address, :wrong)")
    trap_other = instead("UPDATE message SET folder = 'Trash' WHERE folder = 'Inbox' AND sender = :wrong")
    trap_archive = instead("UPDATE message SET folder = 'Archive' WHERE folder = 'Inbox' AND sender = :address")


class MailArchiveOld(_Mail):
    words = "Move the mails of the inbox that came before {day} to the folder Archive."
    change = "UPDATE message SET folder = 'Archive' WHERE folder = 'Inbox' AND day < :day"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        rows = db.execute("SELECT day, subject FROM message WHERE folder = 'Inbox' ORDER BY day").fetchall()
        several = rng.randint(2, 5)
        return {"day": rows[several]["day"], "subjects": [row["subject"] for row in rows[:several]]}

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("Older", *("Choose " + subject for subject in p["subjects"]))
        _move(hands, p, "Archive")

    trap_that_day = instead("UPDATE message SET folder = 'Archive' WHERE folder = 'Inbox' AND day <= :day")
    trap_trash = instead("UPDATE message SET folder = 'Trash' WHERE folder = 'Inbox' AND day < :day")


class MailDearest(_Mail):
    words = "Star the one of the {several} invoices that asks for the {most} money."
    split = "test"
    change = "UPDATE message SET starred = 1 WHERE subject = :subject"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        rows = sorted(db.execute(_INVOICES).fetchall(), key=lambda row: float(row["body"].split()[2]))
        for row in rows[: (gone := rng.randint(0, 1))]:
            db.execute("DELETE FROM message WHERE id = ?", (row["id"],))
        rows, most = rows[gone:], rng.choice(("most", "least"))
        right, wrong = (rows[-1], rows[-2]) if most == "most" else (rows[0], rows[1])
        return {"several": len(rows), "most": most, "subject": right["subject"], "next": wrong["subject"]}

    def solve(self, p: P, hands: Hands) -> None:
        _open(hands, p["subject"])
        hands.click("Star")

    trap_second = instead("UPDATE message SET starred = 1 WHERE subject = :next")
    trap_all = instead("UPDATE message SET starred = 1 WHERE subject LIKE 'Invoice%'")


class MailBills(_Mail):
    words = "Move all invoices of {sender} to the folder Bills."
    change = "UPDATE message SET folder = 'Bills' WHERE subject LIKE 'Invoice%' AND sender = :sender"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        invoices, senders = db.execute(_INVOICES).fetchall(), ["billing@power.example", "office@water.example"]
        rng.shuffle(senders)
        rng.shuffle(invoices)
        for number, row in enumerate(invoices):
            db.execute("UPDATE message SET sender = ? WHERE id = ?", (senders[number % 2], row["id"]))
        return {"sender": senders[0], "subjects": [row["subject"] for row in invoices[::2]]}

    def solve(self, p: P, hands: Hands) -> None:
        hands.fill("Search", p["sender"])
        hands.click("Find", *("Choose " + subject for subject in p["subjects"]))
        _move(hands, p, "Bills")

    trap_all = instead("UPDATE message SET folder = 'Bills' WHERE subject LIKE 'Invoice%'")
    trap_starred = besides("UPDATE message SET starred = 1 WHERE folder = 'Bills'")


class MailUnread(_Mail):
    words = "Mark all mails of the inbox from {name} as unread, and leave all others as they are."
    beside = ("message.id",)
    change = "UPDATE message SET seen = 0 WHERE folder = 'Inbox' AND sender = :address"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        p = _some_of_one(rng, db)
        db.execute("UPDATE message SET seen = 1 WHERE folder = 'Inbox'")
        return p

    def solve(self, p: P, hands: Hands) -> None:
        hands.fill("Search", p["address"])
        hands.click("Find", *("Choose " + subject for subject in p["subjects"]), "Mark as unread")

    trap_other = instead("UPDATE message SET seen = 0 WHERE folder = 'Inbox' AND sender IN (:address, :wrong)")
    trap_all = instead("UPDATE message SET seen = 0 WHERE folder = 'Inbox'")


class MailDraft(_Mail):
    words = "Keep a draft of a mail to {name} with the subject “{subject}” and the text “{body}”. Don't send it."
    change = _sent("Drafts")

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        return _letter(rng, db)

    def solve(self, p: P, hands: Hands) -> None:
        _write(hands, p, "Keep as a draft")

    trap_sent = instead(_sent())
    trap_other = instead(_sent("Drafts", ":wrong"))


class MailFinish(_Mail):
    words = "Send the draft “{subject}”, but to {name}."
    change = f"DELETE FROM message WHERE folder = 'Drafts' AND subject = :subject; {_sent()}"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        p, (first, second) = _pair(rng, db), rng.sample(mail_site.TOPICS, 2)
        p.update(subject=f"Draft on {first}", body=_body(rng))
        mail_site.add(db, "Drafts", mail_site.ME, p["subject"], p["body"], recipient=p["wrong"])
        mail_site.add(db, "Drafts", mail_site.ME, f"Draft on {second}", p["body"], recipient=p["address"])
        return p

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("Drafts", p["subject"])
        hands.fill("To", p["address"])
        hands.click("Send")

    trap_as_it_was = instead(
        f"DELETE FROM message WHERE folder = 'Drafts' AND subject = :subject; {_sent(to=':wrong')}"
    )
    trap_copy = instead(_sent())


class MailNewAddress(_Mail):
    words = "{name} has a new address, which is in one of the mails. Change it in the contacts."
    change = "UPDATE contact SET address = :new WHERE name = :name"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        p = _pair(rng, db)
        hosts = rng.sample(("harbour.example", "meadow.example", "post.example", "lake.example"), 2)
        new, false = (
            f"{name.split()[0].lower()}@{host}" for name, host in zip((p["name"], p["other"]), hosts, strict=True)
        )
        letters = rng.sample(db.execute(_LETTER).fetchall(), 2)
        for row, sender, address in zip(letters, (p["address"], p["wrong"]), (new, false), strict=True):
            body = f"From now on my address is {address}, please."
            db.execute("UPDATE message SET sender = ?, body = ? WHERE id = ?", (sender, body, row["id"]))
        return {**p, "new": new, "false": false, "_subject": letters[0]["subject"]}

    def solve(self, p: P, hands: Hands) -> None:
        _open(hands, p["_subject"])
        hands.click("Contacts")
        hands.fill("Address of " + p["name"], p["new"])
        hands.click("Change " + p["name"])

    trap_other = instead("UPDATE contact SET address = :new WHERE name = :other")
    trap_false = instead("UPDATE contact SET address = :false WHERE name = :name")
    trap_twice = instead("INSERT INTO contact VALUES (NULL, :name || ' ', :new)")


class MailRule(_Mail):
    words = "Make a rule by which all mail from {name} goes to the folder {folder}."
    change = "INSERT INTO rule VALUES (:address, :folder)"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        run(db, "INSERT INTO rule VALUES (:wrong, 'Trash')", p := _pair(rng, db))
        return {**p, "folder": rng.choice(("Archive", "Family", "Travel"))}

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("Rules")
        hands.fill("Mail from", p["address"])
        hands.choose("goes to", mail_site.FOLDERS.index(p["folder"]))
        hands.click("Add rule")

    trap_folder = instead("INSERT INTO rule VALUES (:address, 'Bills')")
    trap_other = instead("INSERT INTO rule VALUES (:wrong, :folder)")
    trap_changed = instead("UPDATE rule SET sender = :address, folder = :folder")


class MailSignature(_Mail):
    words = "Make “{line}” the signature, and then send {name} a mail with the subject “{subject}” and the text: {body}"
    change = "UPDATE setting SET value = :line WHERE name = 'signature'; " + _sent(
        body=":body || char(10, 10) || :line"
    )

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        line = f"{rng.choice(('Yours', 'Cheers', 'Best wishes'))}, {rng.choice(('Kim', 'Jo', 'Sascha', 'Max'))}"
        return {**_letter(rng, db), "line": line}

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("Settings")
        hands.fill("Signature", p["line"])
        hands.click("Save signature")
        _write(hands, p, "Send")

    trap_not_below = instead(f"UPDATE setting SET value = :line WHERE name = 'signature'; {_sent()}")
    trap_unsent = instead("UPDATE setting SET value = :line WHERE name = 'signature'")
    trap_in_text = instead(_sent(body=":body || char(10, 10) || :line"))


class MailFolder(_Mail):
    words = "Create the folder {folder} and move the mail “{subject}” to it."
    change = "INSERT INTO folder VALUES (:folder); UPDATE message SET folder = :folder WHERE subject = :subject"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        return {**one(rng, db, _LETTER), "folder": rng.choice(("Music", "House", "Plans", "School"))}

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("Rules")
        hands.fill("New folder", p["folder"])
        hands.click("Create folder", "Inbox")
        _open(hands, p["subject"])
        hands.choose("Move to", len(mail_site.FOLDERS))
        hands.click("Move")

    trap_empty = instead("INSERT INTO folder VALUES (:folder)")
    trap_elsewhere = instead(
        "INSERT INTO folder VALUES (:folder); UPDATE message SET folder = 'Travel' WHERE subject = :subject"
    )


class MailAway(_Mail):
    words = "From {start} until {end} each mail is to be answered with: {line}"
    split = "test"
    change = (
        "UPDATE setting SET value = :line WHERE name = 'away'; "
        "UPDATE setting SET value = :start WHERE name = 'away_from'; "
        "UPDATE setting SET value = :end WHERE name = 'away_until'"
    )

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        month, first = rng.randint(1, 12), rng.randint(1, 14)
        where = rng.choice(("at sea", "in the hills", "on a train", "at home", "ill", "on leave"))
        line = f"I am {where} and {rng.choice(('read', 'see'))} no mail."
        return {
            "start": f"2027-{month:02}-{first:02}",
            "end": f"2027-{month:02}-{first + rng.randint(3, 14):02}",
            "line": line,
        }

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("Settings")
        for name, key in (("Answer", "line"), ("From (YYYY-MM-DD)", "start"), ("Until (YYYY-MM-DD)", "end")):
            hands.fill(name, p[key])
        hands.click("Save answer")

    trap_always = besides("UPDATE setting SET value = '' WHERE name IN ('away_from', 'away_until')")
    trap_signature = besides("UPDATE setting SET value = :line WHERE name = 'signature'")


class MailAnswer(_Mail):
    words = "Reply to “{subject}” with the amount in euros that “{invoice}” asks for, and nothing else, such as: 12.30"
    change = _sent(to=":sender", subject="'Re: ' || :subject", body=":amount")

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        first, second = rng.sample(db.execute(_INVOICES).fetchall(), 2)
        p = {**one(rng, db, _LETTER), "invoice": first["subject"]}
        return {**p, "amount": first["body"].split()[2], "wrong": second["body"].split()[2]}

    def solve(self, p: P, hands: Hands) -> None:
        _open(hands, p["subject"])
        hands.click("Reply")
        hands.fill("Text", p["amount"])
        hands.click("Send")

    trap_wrong = instead(_sent(to=":sender", subject="'Re: ' || :subject", body=":wrong"))
    trap_draft = instead(_sent("Drafts", ":sender", "'Re: ' || :subject", ":amount"))


class MailBack(_Mail):
    words = "The mail “{subject}” was thrown away by mistake: move it from the trash to the folder {folder}."
    change = "UPDATE message SET folder = :folder WHERE subject = :subject"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        p = one(rng, db, "SELECT subject FROM message WHERE folder = 'Trash'")
        return {**p, "folder": rng.choice(("Inbox", "Family", "Travel"))}

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("Trash", "Choose " + p["subject"])
        _move(hands, p, p["folder"])

    trap_all = instead("UPDATE message SET folder = :folder WHERE folder = 'Trash'")
    trap_archive = instead("UPDATE message SET folder = 'Archive' WHERE subject = :subject")
    trap_other = instead("UPDATE message SET folder = :folder WHERE folder = 'Trash' AND subject != :subject")
