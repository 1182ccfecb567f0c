from pathlib import Path
from typing import Any

import pytest
from pluriverse_server.manifest.sources import TaskSource
from pluriverse_server.sources.reading import SourceError
from pluriverse_server.sources.task import Assignment
from pluriverse_server.task import Look

TASK = """
from pluriverse_server.kit import Task


class Copy(Task):
    words = "Copy a.txt to b.txt."

    def setup(self, rng, home):
        (home / "a.txt").write_text(str(rng.random()))
        return {}

    def check(self, p, look):
        a, b = ((look.home / name).read_text() for name in ("a.txt", "b.txt"))
        return 1 / len(a) * len(a) if a == b else len(b)
"""


@pytest.fixture
def copy(tmp_path: Path) -> Assignment:
    (tmp_path / "home").mkdir()
    (tmp_path / "copy.py").write_text(TASK)
    copy = Assignment(TaskSource(file="copy.py", name="Copy"), tmp_path, "some.Copy-v0", tmp_path / "home")
    copy.set_up(3)
    return copy


def look(home: Path) -> Look:
    def nothing(*_: Any) -> Any:
        raise AssertionError

    return Look(home, nothing, nothing, nothing)


def test_files_of_a_set_up_say_nothing_of_when_it_was(copy: Assignment, tmp_path: Path) -> None:
    assert (tmp_path / "home" / "a.txt").stat().st_mtime == 1_577_836_800


@pytest.mark.parametrize("broken", [None, b"\xff"])
def test_nothing_is_done_where_a_file_is_missing_or_broken(
    copy: Assignment, tmp_path: Path, broken: bytes | None
) -> None:
    home = tmp_path / "home"
    if broken is not None:
        (home / "b.txt").write_bytes(broken)
    assert copy.check(look(home)) == 0
    (home / "b.txt").write_text((home / "a.txt").read_text())
    assert copy.check(look(home)) == 1


def test_a_check_that_fails_otherwise_is_told_with_its_line(copy: Assignment, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "a.txt").write_text("")
    (home / "b.txt").write_text("")
    with pytest.raises(SourceError, match=r"copy.py, line 14: ZeroDivisionError"):
        copy.check(look(home))
    (home / "b.txt").write_text("long")
    with pytest.raises(SourceError, match="check returned 4; expected how much is done, 0 to 1"):
        copy.check(look(home))
