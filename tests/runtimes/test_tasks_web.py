"""The sites of the runtime tasks-web and the tasks on them, without a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, cast

import board_site
import mail_site
import pytest
import shop_site
import sites
from pluriverse_server.kit import Look, PageRequest
from pluriverse_server.manifest.runtime import load
from pluriverse_server.task import chance, load_tasks
from web import SiteTask, database

FOLDER: Final = Path(__file__).parents[2] / "runtimes/tasks-web"
TASKS: Final = {name: task for file in load(FOLDER).tasks for name, task in load_tasks(FOLDER / file).items()}
SEEDS: Final = 5


def set_up(name: str, seed: int, home: Path) -> tuple[SiteTask, dict[str, Any]]:
    # Its class is of a module that was loaded for it alone.
    task = cast("SiteTask", TASKS[name])
    home.mkdir()
    return task, task.setup(chance(name, seed), home)


def graded(task: SiteTask, p: dict[str, Any], home: Path) -> float:
    def nothing(*_: Any) -> Any:
        raise AssertionError("only the database is looked at")

    return task.check(p, Look(home, nothing, nothing, nothing))


def traps(task: SiteTask) -> list[str]:
    return [name for name in dir(task) if name.startswith("trap_")]


@pytest.mark.parametrize("name", TASKS)
def test_what_is_wanted_earns_all_and_traps_nothing(tmp_path: Path, name: str) -> None:
    for seed in range(SEEDS):
        task, p = set_up(name, seed, tmp_path / f"{seed}")
        assert set_up(name, seed, tmp_path / f"{seed} again")[1] == p
        assert graded(task, p, tmp_path / f"{seed}") == 0
        with database(tmp_path / f"{seed}", task.site) as db:
            task.do(db, p)
        assert graded(task, p, tmp_path / f"{seed}") == 1
        assert traps(task)
        for trap in traps(task):
            home = tmp_path / f"{seed} {trap}"
            set_up(name, seed, home)
            getattr(task, trap)(p, home)
            assert graded(task, p, home) == 0, trap


@pytest.mark.parametrize("name", TASKS)
def test_seeds_differ(tmp_path: Path, name: str) -> None:
    wanted = {set_up(name, seed, tmp_path / f"{seed}")[1]["_wanted"] for seed in range(SEEDS)}
    assert len(wanted) == SEEDS


class Client:
    """Asks a site for pages, as its browser does."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def get(self, path: str, **query: str) -> str | None:
        return sites.respond(PageRequest("GET", path, query, {}, {}, b""), self._home)

    def post(self, path: str, **form: str) -> str | None:
        return sites.respond(PageRequest("POST", path, {}, form, {}, b""), self._home)


@pytest.mark.parametrize("site", [shop_site, mail_site, board_site])
def test_each_page_that_is_linked_is_there(tmp_path: Path, site: Any) -> None:
    with database(tmp_path, {shop_site: "Hearth", mail_site: "Pigeon", board_site: "Planks"}[site]) as db:
        site.fill(chance("site", 3), db)
    client = Client(tmp_path)
    seen: dict[str, str] = {}
    due = ["/"]
    while due:
        path, _, query = due.pop().partition("?")
        page = client.get(path, **dict(pair.split("=") for pair in query.split("&") if pair))
        assert page is not None, path
        assert "Nothing here" not in page, path
        seen[f"{path}?{query}"] = page
        linked = [part.partition('"')[0] for part in page.split('a href="')[1:]]
        due += {link for link in linked if f"{link.partition('?')[0]}?{link.partition('?')[2]}" not in seen} - set(due)
    assert len(seen) > 20
    assert client.get("/nowhere") is client.post("/nowhere") is None


def test_things_are_bought_as_they_are_sent(tmp_path: Path) -> None:
    task, p = set_up("ShopOrder", 3, tmp_path / "home")
    client = Client(tmp_path / "home")
    product, quantity = str(p["id"]), str(p["quantity"])
    assert p["name"] in (client.post("/add", product=product, quantity="1") or "")
    assert "Go to checkout" in (client.post("/quantity", product=product, quantity=quantity) or "")
    ordered = client.post("/place", address=p["address"], delivery=p["delivery"], gift=" ")
    assert "Order 6" in (ordered or "")
    assert graded(task, p, tmp_path / "home") == 1


@pytest.mark.parametrize("quantity", ["-1", "two", "1e9", "999999999999", ""])
def test_no_more_is_bought_than_there_is(tmp_path: Path, quantity: str) -> None:
    _, p = set_up("ShopOrder", 3, tmp_path / "home")
    assert "Nothing is in it" in (Client(tmp_path / "home").post("/add", product=str(p["id"]), quantity=quantity) or "")


def test_what_is_written_is_shown_as_text(tmp_path: Path) -> None:
    set_up("MailSend", 3, tmp_path / "home")
    client = Client(tmp_path / "home")
    sent = client.post("/send", to="a@b.c", subject="<b>", body="1 < 2\r\n3 ", do="send")
    assert "&lt;b&gt;" in (sent or "")
    assert "<b><" not in (sent or "")
    with database(tmp_path / "home", "Pigeon") as db:
        assert db.execute("SELECT body FROM message ORDER BY id DESC").fetchone()["body"] == "1 < 2\n3"
