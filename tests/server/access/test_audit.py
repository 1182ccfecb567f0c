import json
import os
from pathlib import Path
from typing import Any

import pytest
from pluriverse_server.access import audit
from pluriverse_server.access.audit import STDERR
from pluriverse_server.access.tokens import Role, Token

WHO = Token(Role.AGENT, "trainer", "trainers-token")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_line_says_who_did_what_when_and_from_where(tmp_path: Path) -> None:
    with audit.written_to(tmp_path / "audit"):
        audit.note("reset", WHO, "192.0.2.1", env_id="toy.First-v0")
        audit.note("wrong password", None, "192.0.2.2", in_all=3)
    audit.note("too late", None, "")
    first, second = lines(tmp_path / "audit")
    assert first.pop("time").endswith("+00:00")
    assert first == {
        "action": "reset",
        "who": {"role": "agent", "name": "trainer"},
        "where": "192.0.2.1",
        "env_id": "toy.First-v0",
    }
    assert (second["who"], second["in_all"]) == (None, 3)
    assert WHO.secret not in (tmp_path / "audit").read_text()


def test_standard_error_may_be_the_file(capfd: pytest.CaptureFixture[str]) -> None:
    with audit.written_to(STDERR):
        audit.note("reset", WHO, "192.0.2.1")
    assert json.loads(capfd.readouterr().err)["action"] == "reset"


def test_file_may_be_moved_away(tmp_path: Path) -> None:
    path, old = tmp_path / "audit", tmp_path / "audit.1"
    with audit.written_to(path):
        audit.note("one", None, "")
        path.rename(old)
        audit.note("two", None, "")
    assert [line["action"] for line in (*lines(old), *lines(path))] == ["one", "two"]


def test_file_that_cannot_be_written_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"), audit.written_to(tmp_path / "missing" / "audit"):
        pass
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="it is no file"), audit.written_to(tmp_path / "pipe"):
        pass


def test_full_disk_is_told_and_the_remote_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "audit"
    with audit.written_to(path):
        path.unlink()
        path.symlink_to("/dev/full")
        audit.note("lost", None, "")
        path.unlink()
        audit.note("kept", None, "")
    assert "No space left" in caplog.text
    assert [line["action"] for line in lines(path)] == ["kept"]
