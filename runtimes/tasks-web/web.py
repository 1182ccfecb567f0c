"""What the three sites share: their pages, the database behind them, tasks on that, and hands that solve these.

A task's end is exact: the whole database is as it is to be, and nothing else in it has changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import random
import sqlite3
from collections.abc import Callable, Generator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

from pluriverse_server.kit import Look, PageRequest, Task

HEAD: Final = '<link rel="stylesheet" href="/style.css"><script src="/site.js"></script>'

# ── pages ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def page(site: str, links: Mapping[str, str], title: str, body: str) -> str:
    bar = "".join(f'<a href="{to}">{escape(label)}</a>' for label, to in links.items())
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{site}</title>{HEAD}<body class="{site.lower()}">'
        f"<header><b>{site}</b><nav>{bar}</nav></header><main><h1>{escape(title)}</h1>{body}</main></body></html>"
    )


def form(to: str, inner: str, label: str, name: str = "", kind: str = "row", method: str = "post") -> str:
    """Return a form with its button; ``name`` is what the button is called where ``label`` isn't enough."""
    called = f' aria-label="{escape(name)}"' if name else ""
    return (
        f'<form class="{kind}" method="{method}" action="{to}">{inner}<button{called}>{escape(label)}</button></form>'
    )


def field(label: str, name: str, value: Any = "", size: int = 24) -> str:
    return (
        f'<label>{escape(label)}<input name="{name}" value="{escape(str(value))}" size="{size}" autocomplete="off">'
        "</label>"
    )


def area(label: str, name: str, value: str = "", rows: int = 5) -> str:
    return f'<label>{escape(label)}<textarea name="{name}" rows="{rows}">\n{escape(value)}</textarea></label>'


def radios(label: str, name: str, options: Sequence[str], chosen: str = "") -> str:
    choices = "".join(
        f'<label><input type="radio" name="{name}" value="{escape(option)}"{" checked" * (option == chosen)}>'
        f"{escape(option)}</label>"
        for option in options
    )
    return f"<fieldset><legend>{escape(label)}</legend>{choices}</fieldset>"


def select(label: str, name: str, options: Sequence[str], chosen: str = "") -> str:
    choices = "".join(f"<option{' selected' * (option == chosen)}>{escape(option)}</option>" for option in options)
    return f'<label>{escape(label)}<select name="{name}">{choices}</select></label>'


def box(label: str, name: str, checked: Any = False) -> str:
    return f'<label><input type="checkbox" name="{name}"{" checked" * bool(checked)}>{escape(label)}</label>'


def table(rows: Sequence[Sequence[str]], head: Sequence[str] = ()) -> str:
    top = f"<tr>{''.join(f'<th>{each}</th>' for each in head)}</tr>" if head else ""
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{top}{lines}</table>"


def written(text: str | None) -> str:
    """Return what someone wrote in a field, as it is kept."""
    return "\n".join(line.rstrip() for line in (text or "").strip().splitlines())


def hidden(name: str, value: Any) -> str:
    return f'<input type="hidden" name="{name}" value="{escape(str(value))}">'


Shown = Callable[[sqlite3.Connection, str, Mapping[str, str]], tuple[str, str]]
Done = Callable[[sqlite3.Connection, Mapping[str, str]], str]


def site(
    name: str, links: Mapping[str, str], showing: Mapping[str, Shown], doing: Mapping[str, Done]
) -> Callable[[PageRequest, Path], str | None]:
    """Return what answers requests with pages: a POST does something first, and shows the page to which that leads.

    ``showing`` has functions by the first part of a path; they return a page's title and body.
    """

    def respond(request: PageRequest, home: Path) -> str | None:
        path, query = request.path, request.query
        with database(home, name) as db:
            if request.method == "POST":
                if path not in doing:
                    return None
                path, query = doing[path](db, request.form), dict[str, str]()
            first, _, rest = path.strip("/").partition("/")
            if first not in showing:
                return None
            return page(name, links, *showing[first](db, rest, query))

    return respond


# ── the database ─────────────────────────────────────────────────────────────────────────────────────────────────────


@contextlib.contextmanager
def database(home: Path, site: str) -> Generator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(home / site.lower())) as db:
        db.row_factory = sqlite3.Row
        # An episode's data need not outlive the machine.
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA journal_mode = MEMORY")
        with db:
            yield db


def setting(db: sqlite3.Connection, name: str) -> str:
    return db.execute("SELECT value FROM setting WHERE name = ?", (name,)).fetchone()["value"]


def state(db: sqlite3.Connection, beside: Sequence[str]) -> str:
    """Return a digest of all rows, without the columns ``beside``, such as ``message.seen``."""
    digest = hashlib.sha256()
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
        columns = [column["name"] for column in db.execute(f"PRAGMA table_info({name})")]
        kept = ", ".join(column for column in columns if f"{name}.{column}" not in beside)
        rows = sorted(repr(tuple(row)) for row in db.execute(f"SELECT {kept} FROM {name}"))
        digest.update(repr((name, rows)).encode())
    return digest.hexdigest()


# ── tasks ────────────────────────────────────────────────────────────────────────────────────────────────────────────


class SiteTask(Task):
    """A task whose end is ``change``, statements of SQL with its parameters, and nothing else."""

    site: str = ""
    change: str = ""
    beside: tuple[str, ...] = ()

    def fill(self, rng: random.Random, db: sqlite3.Connection) -> None:
        raise NotImplementedError

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> dict[str, Any]:
        """Return the parameters; it may change the data so that they fit."""
        raise NotImplementedError

    def do(self, db: sqlite3.Connection, p: Mapping[str, Any]) -> None:
        run(db, self.change, p)

    def setup(self, rng: random.Random, home: Path) -> dict[str, Any]:
        with database(home, self.site) as db:
            self.fill(rng, db)
            p = self.choose(rng, db)
            db.commit()
            with contextlib.closing(sqlite3.connect(":memory:")) as wanted:
                db.backup(wanted)
                wanted.row_factory = sqlite3.Row
                self.do(wanted, p)
                return {**p, "_wanted": state(wanted, self.beside)}

    def solve(self, p: Mapping[str, Any], hands: Hands) -> None:
        raise NotImplementedError

    def oracle(self, p: Mapping[str, Any], computer: Any) -> None:
        self.solve(p, Hands(computer))

    def check(self, p: Mapping[str, Any], look: Look) -> float:
        with database(look.home, self.site) as db:
            return float(state(db, self.beside) == p["_wanted"])


def one(rng: random.Random, db: sqlite3.Connection, query: str, p: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return one of the rows of a query."""
    return dict(rng.choice(db.execute(query, p or {}).fetchall()))


def run(db: sqlite3.Connection, statements: str, p: Mapping[str, Any]) -> None:
    """Run statements that each change something."""
    for statement in statements.split(";"):
        if not db.execute(statement, p).rowcount:
            raise ValueError(f"it changes nothing: {statement}")


def instead(statements: str) -> Callable[[SiteTask, Mapping[str, Any], Path], None]:
    """Return a trap: this is done instead of what is wanted."""

    def trap(task: SiteTask, p: Mapping[str, Any], home: Path) -> None:
        with database(home, task.site) as db:
            run(db, statements, p)

    return trap


def besides(statements: str) -> Callable[[SiteTask, Mapping[str, Any], Path], None]:
    """Return a trap: this is done after what is wanted."""

    def trap(task: SiteTask, p: Mapping[str, Any], home: Path) -> None:
        with database(home, task.site) as db:
            task.do(db, p)
            run(db, statements, p)

    return trap


class Hands:
    """Finds things by their names in the tree, scrolls to them, clicks, types: all that the oracles need."""

    # What is clicked or dragged; cells and rows have the names of what is in them.
    _ROLES: Final = ("link", "button", "radio", "checkbox", "listitem")

    def __init__(self, computer: Any) -> None:
        # Remotes have no agents' library.
        from pluriverse.adapters.computer import acts, key_names

        self._computer, self._acts, self._chord = computer, acts, key_names.chord

    def find(self, name: str, *roles: str) -> tuple[int, int]:
        """Return the middle of what has this name, once it is on the screen."""
        for turn in range(12):
            for node in self._computer.tree().nodes:
                if node.name == name and node.role in (roles or self._ROLES):
                    x, y, width, height = node.box
                    return x + width // 2, y + height // 2
            if turn < 4:
                self._do(self._acts.Wait(0.1))
            else:
                self._do(self._acts.Scroll(0, 4, (self._computer.view.width // 2, self._computer.view.height // 2)))
        raise LookupError(f"there is no {name!r} on the page")

    def click(self, *names: str, role: str = "") -> None:
        for name in names:
            self._do(self._acts.Click(at=self.find(name, *([role] if role else []))))
            # The next page comes; one that is as the last would else be taken for it.
            self._do(self._acts.Wait(0.15))

    def fill(self, name: str, text: Any) -> None:
        """Write in a field, instead of what it has."""
        self._do(self._acts.Click(at=self.find(name, "textbox", "searchbox", "spinbutton")))
        self.press("ctrl+a")
        self.press("Delete")
        if str(text):
            self._do(self._acts.Type(str(text)))

    def choose(self, name: str, number: int) -> None:
        """Choose one of a list's options by its number, from 0. A click on its label doesn't open it."""
        self._do(self._acts.Click(at=self.find(name, "text")))
        self.press("Home")
        for _ in range(number):
            self.press("Down")

    def press(self, keys: str) -> None:
        self._do(self._acts.Press(self._chord(keys)))

    def drag(self, name: str, onto: str) -> None:
        self._do(self._acts.Drag((self.find(name), self.find(onto))))
        self._do(self._acts.Wait(0.15))

    def _do(self, act: Any) -> None:
        answer = self._computer.do(act)
        if answer.failed:
            raise LookupError(answer.message)
