"""Tasks in Zim, a wiki for notes: what is in the files of its pages."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from hands import press, wait, write
from pluriverse_server.kit import Look, Task
from words import line, lines, word

Parameters = dict[str, Any]
Pages = dict[str, str]


class _Notes(Task):
    """``change`` returns the pages beside Home, what Home says, and more parameters."""

    def change(self, rng: Random) -> tuple[Pages, Parameters]:
        raise NotImplementedError

    def setup(self, rng: Random, home: Path) -> Parameters:
        pages, more = self.change(rng)
        notes = home / "Notes"
        notes.mkdir()
        (notes / "notebook.zim").write_text("[Notebook]\nname=Notes\nversion=0.4\nhome=Home\nshort_links=False\n")
        for name, text in {"Home": line(rng), **pages}.items():
            _write(notes, name, text)
        return {**more, "home": _page(notes, "Home")}

    def check(self, p: Parameters, look: Look) -> float:
        return float(self.right(p, look.home / "Notes"))

    def right(self, p: Parameters, notes: Path) -> bool:
        raise NotImplementedError


def _write(notes: Path, name: str, text: str) -> None:
    path = notes / f"{name.replace(':', '/')}.txt"
    path.parent.mkdir(exist_ok=True)
    title = name.rsplit(":", maxsplit=1)[-1]
    path.write_text(f"Content-Type: text/x-zim-wiki\nWiki-Format: zim 0.6\n\n====== {title} ======\n\n{text}\n")


def _page(notes: Path, name: str) -> str:
    """Return what a page says below its title; nothing if there is none."""
    path = notes / f"{name.replace(':', '/')}.txt"
    text = path.read_text() if path.is_file() else ""
    return text.partition(" ======\n")[2].strip()


def _lines(text: str) -> list[str]:
    return [each.strip() for each in text.splitlines() if each.strip() and not each.startswith("Created ")]


def _new_page(computer: Any, name: str, text: str = "") -> None:
    press(computer, "ctrl+n")
    wait(computer)
    write(computer, f"{name}\n")
    wait(computer)
    write(computer, text)
    press(computer, "ctrl+s")
    wait(computer)


def _go(computer: Any, name: str) -> None:
    wait(computer, 1.0)  # while it updates its index
    press(computer, "ctrl+j")
    wait(computer)
    write(computer, f"{name}\n")
    wait(computer)


def _append(computer: Any, text: str) -> None:
    press(computer, "ctrl+End")
    write(computer, f"\n{text}")
    press(computer, "ctrl+s")
    wait(computer)


class NotesNewPage(_Notes):
    words = 'Make a new page {name}, and write on it: "{text}".'

    def change(self, rng: Random) -> tuple[Pages, Parameters]:
        return {}, {"name": word(rng).title(), "text": line(rng)}

    def right(self, p: Parameters, notes: Path) -> bool:
        return _lines(_page(notes, p["name"])) == [p["text"]]

    def oracle(self, p: Parameters, computer: Any) -> None:
        _new_page(computer, p["name"], p["text"])

    def trap_on_home(self, p: Parameters, home: Path) -> None:
        _write(home / "Notes", "Home", p["text"])


class NotesAppendHome(_Notes):
    words = 'Add the line "{text}" at the end of the page Home.'

    def change(self, rng: Random) -> tuple[Pages, Parameters]:
        return {}, {"text": line(rng, 4)}

    def right(self, p: Parameters, notes: Path) -> bool:
        return _lines(_page(notes, "Home")) == [p["home"], p["text"]]

    def oracle(self, p: Parameters, computer: Any) -> None:
        _append(computer, p["text"])

    def trap_instead(self, p: Parameters, home: Path) -> None:
        _write(home / "Notes", "Home", p["text"])


class NotesSubPage(_Notes):
    words = 'Make a page {name} below the page {above}, and write on it: "{text}".'
    difficulty = 2

    def change(self, rng: Random) -> tuple[Pages, Parameters]:
        above, name = line(rng, 2).title().split()
        return {above: line(rng)}, {"above": above, "name": name, "text": line(rng, 4)}

    def right(self, p: Parameters, notes: Path) -> bool:
        return _lines(_page(notes, f"{p['above']}:{p['name']}")) == [p["text"]]

    def oracle(self, p: Parameters, computer: Any) -> None:
        _new_page(computer, f":{p['above']}:{p['name']}", p["text"])

    def trap_beside(self, p: Parameters, home: Path) -> None:
        _write(home / "Notes", p["name"], p["text"])


class NotesFindAndAdd(_Notes):
    words = 'One page, not Home, has the word {word} on it. Add the line "{text}" at its end.'
    split = "test"
    difficulty = 2

    def change(self, rng: Random) -> tuple[Pages, Parameters]:
        sought, *others = line(rng, 14).split()
        names = [each.title() for each in others[:4]]
        pages = {name: " ".join(rng.sample(others[4:], 4)) for name in names}
        name, other = rng.sample(names, 2)
        pages[name] += f" {sought}"
        more = {"word": sought, "text": line(rng, 3), "name": name, "other": other, "before": pages[name]}
        return pages, more

    def right(self, p: Parameters, notes: Path) -> bool:
        return _lines(_page(notes, p["name"])) == [p["before"], p["text"]]

    def oracle(self, p: Parameters, computer: Any) -> None:
        _go(computer, p["name"])
        _append(computer, p["text"])

    def trap_other(self, p: Parameters, home: Path) -> None:
        _write(home / "Notes", p["other"], f"{p['before']}\n{p['text']}")


class NotesDelete(_Notes):
    words = "Delete everything that the page {name} says below its title. The other pages stay as they are."

    def change(self, rng: Random) -> tuple[Pages, Parameters]:
        name, other = line(rng, 2).title().split()
        texts = lines(rng, 2)
        return dict(zip((name, other), texts, strict=True)), {"name": name, "other": other, "kept": texts[1]}

    def right(self, p: Parameters, notes: Path) -> bool:
        there = (notes / f"{p['name']}.txt").is_file()
        return there and not _lines(_page(notes, p["name"])) and _lines(_page(notes, p["other"])) == [p["kept"]]

    def oracle(self, p: Parameters, computer: Any) -> None:
        _go(computer, p["name"])
        press(computer, "ctrl+End", "shift+ctrl+Home", "Delete")
        write(computer, p["name"])
        press(computer, "Home", "ctrl+1", "End", "Return", "ctrl+s")
        wait(computer)

    def trap_both(self, p: Parameters, home: Path) -> None:
        for name in (p["name"], p["other"]):
            _write(home / "Notes", name, "")
