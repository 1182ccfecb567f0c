import os
from pathlib import Path

import numpy as np
import pytest
from pluriverse_protocol.tree import Node
from pluriverse_server.sources.evidence import packed, unpacked
from pluriverse_server.task import Look

PICTURE = np.zeros((2, 3, 3), np.uint8)
NODES = (Node("button", (1, 2, 3, 4), "OK"),)


def look(home: Path) -> Look:
    home.mkdir()
    return Look(home, lambda: PICTURE, lambda: NODES, lambda expression: [expression])


def test_a_check_finds_again_what_one_has_looked_at(tmp_path: Path) -> None:
    first = look(tmp_path / "home")
    (first.home / "notes/empty").mkdir(parents=True)
    (first.home / "notes/a").write_bytes(b"\0a")
    (first.home / "notes/a").chmod(0o640)
    (first.home / "link").symlink_to("notes/a")
    assert first.tree == NODES
    assert first.page("title") == ["title"]
    with unpacked(packed({"word": "tern"}, first), PICTURE) as (parameters, again):
        assert parameters == {"word": "tern"}
        assert (again.home / "notes/empty").is_dir()
        assert (again.home / "link").read_bytes() == b"\0a"
        assert (again.home / "notes/a").stat().st_mode & 0o777 == 0o640
        assert (again.picture is PICTURE, again.tree, again.page("title")) == (True, NODES, ["title"])
    assert not again.home.exists()


def test_the_same_home_is_packed_to_the_same_bytes(tmp_path: Path) -> None:
    first = look(tmp_path / "home")
    (first.home / "a").write_text("a")
    once = packed({}, first)
    os.utime(first.home / "a", (1, 1))
    assert packed({}, first) == once


@pytest.mark.parametrize("length", [100_000, 10_000_000])
def test_what_is_too_long_for_a_message_is_not_kept(tmp_path: Path, length: int) -> None:
    first = look(tmp_path / "home")
    (first.home / "noise").write_bytes(np.random.default_rng(1).bytes(length))
    assert packed({}, first) == ""


@pytest.mark.parametrize("kept", [0, 0.5])
def test_damaged_evidence_is_refused(tmp_path: Path, kept: float) -> None:
    first = look(tmp_path / "home")
    (first.home / "a").write_bytes(np.random.default_rng(1).bytes(9_000))
    text = packed({}, first)
    with pytest.raises(ValueError, match="damaged"), unpacked(text[: int(kept * len(text)) // 4 * 4], PICTURE):
        pass
