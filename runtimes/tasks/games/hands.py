"""What oracles do with their hands. ``pluriverse`` is imported as they act: where programs run, there is none."""

from __future__ import annotations

from typing import Any


def press(computer: Any, *chords: str) -> None:
    """Press each of these, such as ``ctrl+s``, one after the other."""
    from pluriverse.adapters.computer import calls

    for chord in chords:
        computer.do(calls.press_keys(chord))


def write(computer: Any, text: str) -> None:
    from pluriverse.adapters.computer import calls

    computer.do(calls.type_text(text))


def click(computer: Any, x: int, y: int, count: int = 1) -> None:
    from pluriverse.adapters.computer import calls

    computer.do(calls.click(x, y, count=count))


def wait(computer: Any, seconds: float = 0.5) -> None:
    """Give the program time: for a dialog to come, or a file to be written."""
    from pluriverse.adapters.computer import calls

    computer.do(calls.wait(seconds))


def drag(computer: Any, *path: tuple[int, int]) -> None:
    from pluriverse.adapters.computer import calls

    computer.do(calls.drag(list(path)))


def run_sql(computer: Any, left: int, statements: str) -> None:
    """Execute statements in DB Browser for SQLite, whose text of them begins at ``left``, and write the changes."""
    click(computer, 100, 400)
    press(computer, "ctrl+shift+Tab")
    wait(computer)
    click(computer, left, 260)
    write(computer, statements)
    press(computer, "ctrl+Return")
    wait(computer)
    press(computer, "ctrl+s")
    wait(computer)


def save_as(computer: Any, name: str) -> None:
    """Answer a file dialog of GTK's, which looks at the name before it can be accepted."""
    wait(computer, 1.0)
    press(computer, "ctrl+a")
    write(computer, name)
    wait(computer)
    press(computer, "Return")
    wait(computer)
