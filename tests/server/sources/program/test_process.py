import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from pluriverse_server.manifest.sources import ProcessSource
from pluriverse_server.sources.program import ProgramReader, make_program_reader
from pluriverse_server.sources.reading import SourceError
from support.program import running, target
from support.xvfb import Xvfb, xvfb
from Xlib import XK, X
from Xlib.display import Display

pytestmark = pytest.mark.display


@pytest.mark.parametrize(("code", "value"), [("raise SystemExit(3)", 3), ("import os; os.kill(os.getpid(), 9)", -9)])
def test_exit_code_is_nothing_until_the_program_has_ended(tmp_path: Path, code: str, value: int) -> None:
    with running([sys.executable, "-c", f"input(); {code}"]) as program:
        table = ProcessSource.model_validate({"from": "process", "read": "exit"})
        reader = make_program_reader(table, target(tmp_path, program=program))
        assert reader.read().value is None
        program.communicate(b"\n")
        assert reader.read().value == value
        reader.close()


# ── titles ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def server() -> Generator[Xvfb]:
    with xvfb() as server:
        yield server


@pytest.fixture
def screen(server: Xvfb) -> Generator[Any]:
    """A client of the X server; its windows go with it."""
    display = Display(server.name)
    yield display
    display.close()


def title_reader(server: Xvfb, pattern: str = "(?P<value>.*)") -> ProgramReader:
    table = ProcessSource.model_validate({"from": "process", "read": "title", "pattern": pattern})
    return make_program_reader(table, target(Path("/"), environment=server.environment))


def window(screen: Any, title: bytes, name: str = "WM_NAME", parent: Any = None, *, shown: bool = True) -> Any:
    parent = parent or screen.screen().root
    made = parent.create_window(0, 0, 50, 50, 0, X.CopyFromParent, X.InputOutput)
    entitle(screen, made, title, name)
    if shown:
        made.map()
    screen.sync()
    return made


def entitle(screen: Any, made: Any, title: bytes, name: str = "WM_NAME") -> None:
    kind = screen.intern_atom("STRING" if name == "WM_NAME" else "UTF8_STRING")
    made.change_property(screen.intern_atom(name), kind, 8, title)
    screen.sync()


def test_title_is_read_as_it_changes(server: Xvfb, screen: Any) -> None:
    reader, over = title_reader(server, r"Score: (?P<value>\S+)"), title_reader(server, "Over")
    assert reader.read().value is None
    made = window(screen, b"Game - Score: 10")
    assert (reader.read().value, over.read().value) == (10, False)
    entitle(screen, made, b"Game - Score: 25 - Over")
    assert (reader.read().value, over.read().value) == (25, True)
    entitle(screen, made, "Score: zwölf".encode(), "_NET_WM_NAME")
    assert reader.read().value == "zwölf"
    made.destroy()
    screen.sync()
    assert reader.read().value is None
    reader.close()
    over.close()


def test_uppermost_window_that_matches_is_read(server: Xvfb, screen: Any) -> None:
    low, _ = window(screen, b"level 1"), window(screen, b"level 2")
    window(screen, b"level 3", shown=False)
    window(screen, b"about")
    reader = title_reader(server, r"level (?P<value>\d)")
    assert reader.read().value == 2
    low.configure(stack_mode=X.Above)
    screen.sync()
    assert reader.read().value == 1
    reader.close()


def test_changes_of_the_keyboard_map_do_not_pile_up(server: Xvfb, screen: Any) -> None:
    window(screen, b"game")
    reader = title_reader(server)
    assert reader.read().value == "game"
    for keysym in (XK.XK_a, XK.XK_b) * 50:
        screen.change_keyboard_mapping(255, [(keysym, keysym)])
    screen.sync()
    # What comes together with the answers of a read waits for the next.
    reader.read()
    assert reader.read().value == "game"
    assert vars(reader)["_display"].pending_events() == 0
    reader.close()


def test_window_in_a_window_managers_frame_is_found(server: Xvfb, screen: Any) -> None:
    frame = window(screen, b"")
    window(screen, b"inside", parent=frame)
    reader = title_reader(server)
    assert reader.read().value == "inside"
    reader.close()


@pytest.mark.parametrize("title", [b"\xff\xfe broken", b"x" * 100_000])
def test_title_of_any_bytes_is_a_short_text(server: Xvfb, screen: Any, title: bytes) -> None:
    window(screen, title)
    reader = title_reader(server)
    value = reader.read().value
    assert isinstance(value, str)
    assert 0 < len(value) <= 1000
    reader.close()


def test_screen_that_ends_or_is_not_there_is_an_error() -> None:
    with xvfb() as server:
        reader = title_reader(server)
        assert reader.read().value is None
    with pytest.raises(SourceError, match="is the X server running"):
        reader.read()
    reader.close()
    with pytest.raises(SourceError, match=r"can't read the windows of '.*'"):
        title_reader(server).read()
