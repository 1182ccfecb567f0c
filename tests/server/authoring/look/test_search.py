"""Values that a person sees, in a program's files, output, widgets and memory."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from pluriverse_server.authoring.look.files import values_in_files
from pluriverse_server.authoring.look.found import Found, number_pattern
from pluriverse_server.authoring.look.looked_at import LookedAt
from pluriverse_server.authoring.look.search import Search
from pluriverse_server.authoring.look.widgets import Widget, sources_of_widgets
from pluriverse_server.manifest.sources import AnySource
from pluriverse_server.sources.program import ProgramOutput, Target, make_program_reader
from pluriverse_server.sources.program.patterns import Matcher
from pydantic import TypeAdapter

# Of a process that has ended.
NOBODY = 2**22 + 1


@pytest.fixture
def program(tmp_path: Path) -> LookedAt:
    """This process, as if it were the program."""
    return LookedAt(os.getpid(), {"HOME": str(tmp_path)})


def read(found: Found, home: Path) -> object:
    target = Target(os.getpid, home, ProgramOutput(), lambda: None, {})
    reader = make_program_reader(TypeAdapter[AnySource](AnySource).validate_python(dict(found.table)), target)
    try:
        return reader.look()
    finally:
        reader.close()


def test_values_are_found_in_files_of_each_kind_and_read_there(program: LookedAt, tmp_path: Path) -> None:
    (tmp_path / ".config").mkdir()
    (tmp_path / ".config" / "save.json").write_text(json.dumps({"players": [{"score": 120, "name": "ann"}]}))
    (tmp_path / "save.ini").write_text("[game]\nscore = 120\n")
    (tmp_path / "scores.csv").write_text("name,score\nbob,90\nann,120\n")
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    there = [one for one in values_in_files(program, "") if one.value == 120]
    found = {one.how: one for one in there if one.table["from"] == "file"}
    assert set(found) == {"players.0.score in .config/save.json", "game.score in save.ini", "-1.1 in scores.csv"}
    assert {read(one, tmp_path) for one in found.values()} == {120}


def test_what_was_found_stays_while_it_has_the_values_that_are_seen(program: LookedAt, tmp_path: Path) -> None:
    log = tmp_path / "game.log"
    # Of memory test_memory.py has more; that of this process is large.
    search = Search(replace(program, pid=NOBODY))
    log.write_text("level 3: 120 points, 120 left\n")
    found, _ = search.narrow(120, "at 1: score 120\n")
    assert {one.how for one in found} >= {"“level 3: 120 points, 120 left” in game.log", "“at 1: score 120” printed"}
    log.write_text("level 3: 120 points, 120 left\nlevel 4: 140 points, 90 left\n")
    found, _ = search.narrow(140, "at 1: score 120\nat 2: score 140\n")
    texts = [one for one in found if one.table["from"] == "log"]
    assert len(texts) == 2
    assert {Matcher(one.table["pattern"]).value("level 9: 7 points, 5 left") for one in texts} == {7, None}


def test_a_search_is_of_one_run_of_a_program(program: LookedAt) -> None:
    search = Search(program)
    assert search.suits(program)
    assert not search.suits(LookedAt(1, {}))
    assert not search.suits(None)
    assert Search(None).suits(None)


@pytest.mark.parametrize(
    ("line", "which", "again", "value"),
    [
        ("Score: 120 of 900", 0, "Score: 7 of 900", 7),
        ("Score: 120 of 900", 1, "Score: 7 of 80", 80),
        ("12:30:01 [game] +5.5", 3, "13:00:59 [game] +2.25", 2.25),
        ("-3", 0, "44", 44),
    ],
)
def test_a_pattern_of_a_line_reads_the_next_of_its_kind(line: str, which: int, again: str, value: float) -> None:
    pattern = number_pattern(line, which)
    assert pattern is not None
    assert Matcher(pattern).value(again) == value
    assert number_pattern(line, 9) is None


def test_a_widget_is_found_by_its_name_or_its_place_and_a_role_by_either_name() -> None:
    widgets = [
        Widget("frame / button “Play”", "button", "Play", "Play"),
        Widget("frame / push button “Stop”", "push button", "Stop", "Stop"),
        Widget("frame / text “Score”", "text", "Score", "120 points"),
        Widget("frame / filler", "filler", "", ""),
        Widget("frame / text", "text", "", ""),
    ]
    tables = [dict(found.table) for found in sources_of_widgets(widgets)]
    assert tables[:2] == [
        {"from": "accessibility", "role": "button"},
        {"from": "accessibility", "role": "push button", "index": 1},
    ]
    assert tables[2]["name"] == "^Score$"
    assert Matcher(tables[2]["pattern"]).value("140 points") == 140
    # What a person fills in is there while it is empty, too.
    assert tables[3] == {"from": "accessibility", "role": "text", "index": 1}
    assert len(tables) == 4
