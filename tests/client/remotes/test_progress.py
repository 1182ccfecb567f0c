"""What somebody who waits is shown, and when nothing is."""

import io
import logging
import sys
import threading
from collections.abc import Iterator

import pytest
from pluriverse.remotes import each, progress, starting, waiting

DEADLINE_S = 60.0


class Shown(io.StringIO):
    """Standard error, of a terminal or not, that says when something is written."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal
        self.wrote = threading.Event()

    def isatty(self) -> bool:
        return self._terminal

    def write(self, text: str) -> int:
        count = super().write(text)
        self.wrote.set()
        return count


def watched(monkeypatch: pytest.MonkeyPatch, *, terminal: bool = True) -> Shown:
    """Standard error as outside of pytest, which says in each phase of a test anew that it runs."""
    monkeypatch.setattr(progress, "SILENT_S", 0.0)
    monkeypatch.setattr(progress, "AGAIN_S", 0.0)
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    shown = Shown(terminal=terminal)
    monkeypatch.setattr("sys.stderr", shown)
    return shown


def test_start_of_remotes_is_shown_on_a_line_that_is_gone_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watched(monkeypatch)
    with starting(2, "doom.Basic-v0") as report:
        report(0, "starting a local process")
        report(0, "ready at vnc://127.0.0.1:5900")
        terminal.wrote.clear()
        assert terminal.wrote.wait(DEADLINE_S)
    assert " s  starting doom.Basic-v0: 1 of 2 ready; remote 0: ready at vnc" in terminal.getvalue()
    assert terminal.getvalue().endswith(progress.ERASE)
    assert "\n" not in terminal.getvalue()


def test_notebook_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = watched(monkeypatch, terminal=False)
    monkeypatch.setitem(sys.modules, "ipykernel", progress)
    with waiting("writing a film"):
        assert notebook.wrote.wait(DEADLINE_S)
    assert notebook.getvalue() == "pluriverse: writing a film …\n"


def test_each_item_is_waited_for_by_itself_and_errors_come_through(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watched(monkeypatch)

    def items() -> Iterator[int]:
        yield 1
        assert terminal.wrote.wait(DEADLINE_S)
        yield 2
        raise ZeroDivisionError

    found: list[int] = []
    with pytest.raises(ZeroDivisionError):
        found.extend(each(items(), "counting"))
    assert " s  counting" in terminal.getvalue()


@pytest.mark.parametrize("why", ["no terminal", "pytest", "only errors are logged"])
def test_nothing_is_shown(why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = watched(monkeypatch, terminal=why != "no terminal")
    if why == "pytest":
        monkeypatch.setenv("PYTEST_CURRENT_TEST", "this")
    elif why == "only errors are logged":
        monkeypatch.setattr(logging.getLogger("pluriverse"), "level", logging.ERROR)
    before = threading.active_count()
    with waiting("nothing"):
        assert threading.active_count() == before
    assert not shown.getvalue()
