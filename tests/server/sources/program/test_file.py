import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.sources import FileSource
from pluriverse_server.sources.program import ProgramReader, make_program_reader
from pluriverse_server.sources.program.file import MAX_FILE_BYTES
from pluriverse_server.sources.reading import SourceError
from support.program import target


def reader_of(home: Path, form: str, key: str, file: str = "scores") -> ProgramReader:
    document = {"from": "file", "file": file, "format": form, "key": key}
    return make_program_reader(FileSource.model_validate(document), target(home))


JSON = '{"a": {"b": [1, {"c": 2.5}]}, "name": "Ann", "won": true, "none": null, "9": "nine"}'
INI = "[game.one]\nscore = 12\nname = Ann Lee\nhalf: .5\nflag\n[two]\nScore = 3\n"
CSV = "name,score\nAnn,10\nBob,2.5\n\n"


@pytest.mark.parametrize(
    ("form", "text", "key", "value"),
    [
        ("json", JSON, "a.b.1.c", 2.5),
        ("json", JSON, "name", "Ann"),
        ("json", JSON, "won", True),
        ("json", JSON, "9", "nine"),
        ("json", JSON, "none", None),
        ("json", JSON, "a", None),
        ("json", JSON, "a.b.7", None),
        ("json", JSON, "name.first", None),
        ("json", "[3]", "0", 3),
        ("ini", INI, "game.one.score", 12),
        ("ini", INI, "game.one.name", "Ann Lee"),
        ("ini", INI, "game.one.half", 0.5),
        ("ini", INI, "game.one.flag", None),
        ("ini", INI, "two.score", 3),
        ("ini", "score = 4\nlevel=2", "level", 2),
        ("csv", CSV, "1.1", 10),
        ("csv", CSV, "0.0", "name"),
        ("csv", CSV, "0.score", 10),
        ("csv", CSV, "-2.score", 2.5),
        ("csv", CSV, "1.name", "Bob"),
        ("csv", CSV, "0.lives", None),
        ("csv", CSV, "1.9", None),
        ("csv", CSV, "-9.1", None),
        ("csv", "Ann,10\nBob,2", "-1.1", 10),
        ("ini", "score\n  12", "score", None),
        ("csv", "\ufeffscore\n5\n", "0.score", 5),
    ],
)
def test_value_is_found_by_its_key(tmp_path: Path, form: str, text: str, key: str, value: Value) -> None:
    (tmp_path / "scores").write_text(text)
    found = reader_of(tmp_path, form, key).read().value
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("content", "pattern", "value"),
    [
        (b"Dear Ann,\n\nthe meadow\n", {}, "Dear Ann,\n\nthe meadow"),
        (b" 12\n", {}, 12),
        (b"", {}, ""),
        (b"caf\xe9", {}, "caf\ufffd"),
        (b"x" * 2000, {}, "x" * 1000),
        (b"x" * 2000 + b"\ntotal: 7\n", {"pattern": r"total: (?P<value>\d+)"}, 7),
        (b"a\nb\n", {"pattern": "(?m)^b$"}, True),
        (b"a\n", {"pattern": "(?m)^b$"}, False),
    ],
)
def test_plain_text_is_a_value_or_what_a_pattern_finds_in_all_of_it(
    tmp_path: Path, content: bytes, pattern: dict[str, str], value: Value
) -> None:
    (tmp_path / "letter").write_bytes(content)
    document = {"from": "file", "file": "letter", "format": "text", **pattern}
    found = make_program_reader(FileSource.model_validate(document), target(tmp_path)).read().value
    assert (found, type(found)) == (value, type(value))


def test_missing_file_has_no_value_until_it_comes_and_after_it_has_gone(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, "json", "score")
    assert reader.read().value is None
    (tmp_path / "scores").write_text('{"score": 1}')
    assert reader.read().value == 1
    (tmp_path / "scores").unlink()
    assert reader.read().value is None


@pytest.mark.parametrize(("form", "key"), [("json", "score"), ("ini", "s.score"), ("csv", "0.score")])
def test_half_written_file_leaves_the_last_value(tmp_path: Path, form: str, key: str) -> None:
    whole = {"json": '{"score": 1}', "ini": "[s]\nscore = 1\n", "csv": "score\n1\n"}[form]
    torn = {"json": '{"sco', "ini": "[s", "csv": ""}[form]
    path, reader = tmp_path / "scores", reader_of(tmp_path, form, key)
    path.write_text(whole)
    assert reader.read().value == 1
    for text in (torn, ""):
        path.write_text(text)
        assert reader.read().value == 1
    path.write_text(whole.replace("1", "2"))
    assert reader.read().value == 2


def test_two_writes_within_one_tick_of_the_clock_are_both_seen_and_a_file_in_the_place_of_another(
    tmp_path: Path,
) -> None:
    path, reader = tmp_path / "scores", reader_of(tmp_path, "json", "0")
    path.write_text("[1]")
    status = path.stat()
    assert reader.read().value == 1
    path.write_text("[2]")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert reader.read().value == 2
    for number in (3, 4):
        (tmp_path / "new").write_text(f"[{number}]")
        os.utime(tmp_path / "new", (1000, 1000))
        (tmp_path / "new").rename(path)
        assert reader.read().value == number


def test_file_that_has_not_changed_for_long_is_not_read_again(tmp_path: Path) -> None:
    path, reader = tmp_path / "scores", reader_of(tmp_path, "json", "0")
    path.write_text("[1]")
    os.utime(path, (1000, 1000))
    assert reader.read().value == 1
    path.write_text("[2]")
    os.utime(path, (1000, 1000))
    assert reader.read().value == 1
    os.utime(path, (1001, 1001))
    assert reader.read().value == 2


def test_what_is_no_small_file_is_an_error_and_never_waited_for(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe"):
        with pytest.raises(SourceError, match="isn't a file"):
            reader_of(tmp_path, "json", "0", name).read()
    (tmp_path / "scores").write_bytes(b"")
    os.truncate(tmp_path / "scores", MAX_FILE_BYTES + 1)
    with pytest.raises(SourceError, match=r"scores is over 1048576 bytes; expected a small file"):
        reader_of(tmp_path, "json", "0").read()
    # What is below a file is missing.
    assert reader_of(tmp_path, "json", "0", "scores/scores").read().value is None


@settings(deadline=None)
@given(
    st.binary(max_size=200) | st.just(b"[" * 100_000),
    st.sampled_from(["json 0.a", "ini s.k", "ini k", "csv 0.0", "csv 0.a"]),
)
def test_no_content_is_more_than_a_value_or_none(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, how: str
) -> None:
    home = tmp_path_factory.getbasetemp()
    (home / "scores").write_bytes(content)
    form, key = how.split()
    assert isinstance(reader_of(home, form, key).read().value, (bool, int, float, str, type(None)))
