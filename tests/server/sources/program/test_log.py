import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.sources import LogSource
from pluriverse_server.sources.program import ProgramOutput, make_program_reader
from pluriverse_server.sources.program import log as log_module
from pluriverse_server.sources.program.log import MAX_BEHIND_BYTES, MAX_LINE_BYTES, MAX_READ_BYTES, LogReader
from pluriverse_server.sources.program.reader import MAX_KEPT_BYTES
from pluriverse_server.sources.reading import SourceError
from support.program import target
from support.waiting import until

SCORE = r"score (?P<value>\S+)"


def table(pattern: str = SCORE, **more: Any) -> LogSource:
    return LogSource.model_validate({"from": "log", "pattern": pattern, **more})


class Log:
    """A log file in the program's home and the reader on it."""

    def __init__(self, home: Path, pattern: str = SCORE) -> None:
        self.path = home / "game.log"
        self.reader = LogReader(table(pattern, file="game.log"), target(home))

    def write(self, text: str | bytes) -> None:
        with self.path.open("ab") as file:
            file.write(text.encode() if isinstance(text, str) else text)

    def read(self) -> tuple[Value, int]:
        sample = self.reader.read()
        return sample.value, sample.events


@pytest.fixture
def pattern() -> str:
    return SCORE


@pytest.fixture
def log(tmp_path: Path, pattern: str) -> Generator[Log]:
    log = Log(tmp_path, pattern)
    with pytest.MonkeyPatch.context() as patch:
        # On a busy machine a read that ends early would say nothing of the pattern.
        patch.setattr(log_module, "MAX_READ_S", 60.0)
        yield log
    log.reader.close()


def test_value_is_that_of_the_last_match_and_events_are_the_matches(log: Log) -> None:
    log.write("score 1\nscore 2\nother\n")
    assert log.read() == (2, 2)
    assert log.read() == (2, 0)
    log.write("score 2\n")
    assert log.read() == (2, 1)


def test_value_is_a_number_where_it_is_written_as_one(log: Log) -> None:
    said = {"7": 7, "-7": -7, "+7": 7, "1.5": 1.5, ".5": 0.5, "1e3": 1000.0, "0x10": "0x10", "nan": "nan"}
    for text, value in said.items():
        log.write(f"score {text}\n")
        found, _ = log.read()
        assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("pattern", ["died"])
def test_pattern_without_value_counts_its_matches(log: Log) -> None:
    assert log.read() == (0, 0)
    log.write("died\nborn\nhas died\n")
    assert log.read() == (2, 2)


def test_what_is_in_the_log_already_is_old(tmp_path: Path) -> None:
    (tmp_path / "game.log").write_text("score 99\nsco")
    log = Log(tmp_path)
    assert log.read() == (None, 0)
    log.write("re 5\nscore 6\n")
    assert log.read() == (6, 1)
    log.reader.close()


def test_log_that_comes_later_or_is_cut_short_is_read_from_its_beginning(log: Log) -> None:
    assert log.read() == (None, 0)
    log.write("score 1\nscore 2\n")
    assert log.read() == (2, 2)
    os.truncate(log.path, 0)
    assert log.read() == (2, 0)
    log.write("score 3\n")
    assert log.read() == (3, 1)


def test_rotated_log_is_read_to_its_end_and_then_the_new_one(log: Log) -> None:
    log.write("score 1\n")
    assert log.read() == (1, 1)
    log.write("score 2\n")
    log.path.rename(log.path.with_suffix(".1"))
    log.write("score 3\n")
    assert log.read() == (2, 1)
    assert log.read() == (2, 0)
    assert log.read() == (3, 1)


def test_line_that_was_not_ended_when_its_log_was_replaced_is_no_line(log: Log) -> None:
    log.write("score 1")
    assert log.read() == (None, 0)
    log.path.unlink()
    log.write("score 0\n")
    assert until(log.read, lambda read: read[1]) == (0, 1)
    log.write("score 5")
    assert log.read() == (0, 0)
    os.truncate(log.path, 0)
    log.write("score 2\n")
    assert log.read() == (2, 1)


def test_what_is_written_just_before_the_log_is_replaced_is_read(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    log.write("score 1\n")
    assert log.read() == (1, 1)
    read = os.pread

    def read_and_rotate(descriptor: int, size: int, offset: int) -> bytes:
        data = read(descriptor, size, offset)
        if not data:
            monkeypatch.undo()
            log.write("score 2\n")
            log.path.rename(log.path.with_suffix(".1"))
            log.write("score 3\n")
        return data

    monkeypatch.setattr(os, "pread", read_and_rotate)
    assert log.read() == (2, 1)
    assert until(log.read, lambda read: read[1]) == (3, 1)


def test_slow_pattern_does_not_hide_that_there_is_more(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "MAX_READ_S", 0.0)
    log.write("x" * (MAX_READ_BYTES - 1) + "\nscore 1\n")
    assert log.reader.read().behind
    monkeypatch.undo()
    # The one line that had been read; what comes after it has not.
    sample = log.reader.read()
    assert (sample.value, sample.behind) == (None, True)
    sample = log.reader.read()
    assert (sample.value, sample.behind) == (1, False)


def test_of_a_long_line_only_the_beginning_is_looked_at(log: Log) -> None:
    log.write("x" * MAX_LINE_BYTES + "score 1\nscore 2\n" + "score 3" + "y" * MAX_READ_BYTES * 2 + "\nscore 4\n")
    assert log.read() == (2, 1)
    until(log.read, lambda read: read == (4, 2))


def test_program_that_writes_faster_than_can_be_read_is_an_error(log: Log) -> None:
    log.write("score 1\n")
    log.read()
    os.truncate(log.path, MAX_BEHIND_BYTES + 100)
    with pytest.raises(SourceError, match=r"game\.log grew by \d+ bytes .* reduce its output"):
        log.read()


def test_pattern_that_explodes_is_an_error_in_bounded_time(tmp_path: Path) -> None:
    log = Log(tmp_path, r"(a|aa)+$")
    log.write("a" * 5000 + "b\n")
    with pytest.raises(SourceError, match=r"its pattern took over .* nested repetitions"):
        log.read()
    log.reader.close()


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_no_log_is_an_error_and_never_waited_for(log: Log, make: Any) -> None:
    make(log.path)
    with pytest.raises(SourceError, match=r"game\.log can't be read: .*; is it the log"):
        log.read()


# ── the program's output ────────────────────────────────────────────────────────────────────────────────────────────


def test_output_is_read_as_a_file_is_by_each_source_for_itself(tmp_path: Path) -> None:
    output = ProgramOutput()
    output.write(b"score 1\n")
    place = target(tmp_path, output=output)
    readers = [make_program_reader(table(), place), make_program_reader(table(r"\w"), place)]
    output.write(b"score 2\nscor")
    assert [(reader.read().value, reader.read().events) for reader in readers] == [(2, 0), (1, 0)]
    output.write(b"e 3\n")
    assert [reader.read().value for reader in readers] == [3, 2]


def test_output_that_is_forgotten_before_it_is_read_is_an_error(tmp_path: Path) -> None:
    output = ProgramOutput()
    reader = LogReader(table(), target(tmp_path, output=output))
    for _ in range(MAX_KEPT_BYTES // MAX_READ_BYTES + 1):
        output.write(b"x" * MAX_READ_BYTES)
    assert output.end == MAX_KEPT_BYTES + MAX_READ_BYTES
    with pytest.raises(SourceError, match="faster than they could be read"):
        reader.read()


@given(st.lists(st.binary(max_size=30)), st.binary(max_size=200))
def test_lines_are_the_same_however_the_bytes_come(cuts: list[bytes], rest: bytes) -> None:
    output = ProgramOutput()
    reader = LogReader(table(r"(?P<value>.*)"), target(Path("/"), output=output))
    events = 0
    for part in [*cuts, rest, b"\n"]:
        output.write(part)
        events += reader.read().events
    assert events == (b"".join(cuts) + rest + b"\n").count(b"\n")
