import errno
import json
import logging
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from pluriverse_server.access import audit as module
from pluriverse_server.access.audit import MAX_WAITING, STDERR, AuditLog
from pluriverse_server.access.tokens import Role, Token
from support.waiting import eventually

WHO = Token(Role.AGENT, "trainer", "trainers-token")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines() if line]


def test_line_says_who_did_what_when_and_from_where(tmp_path: Path) -> None:
    audit = AuditLog(tmp_path / "audit")
    audit.note("reset", WHO, "192.0.2.1", env_id="toy.First-v0")
    audit.note("wrong password", None, "192.0.2.2", in_all=3)
    audit.close()
    audit.close()
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
    audit = AuditLog(STDERR)
    audit.note("reset", WHO, "192.0.2.1")
    audit.close()
    assert json.loads(capfd.readouterr().err)["action"] == "reset"


def test_file_that_cannot_be_written_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        AuditLog(tmp_path / "missing" / "audit")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="No such device"):
        AuditLog(tmp_path / "pipe")


async def test_file_may_be_moved_away(tmp_path: Path) -> None:
    path, old = tmp_path / "audit", tmp_path / "audit.1"
    audit = AuditLog(path)
    audit.note("one", None, "")
    await eventually(path.read_text)
    path.rename(old)
    audit.note("two", None, "")
    audit.close()
    assert [line["action"] for line in (*lines(old), *lines(path))] == ["one", "two"]


async def test_full_disk_costs_lines_which_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    audit = AuditLog(tmp_path / "audit")
    full = threading.Event()
    full.set()
    refused: list[bytes] = []

    def write(file: int, data: bytes) -> None:
        if not full.is_set():
            os.write(file, data)
            return
        if not refused:
            os.write(file, data[:10])
        refused.append(data)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, "_write", write)
    for _ in range(3):
        audit.note("lost", None, "")
    await eventually(lambda: len(refused) == 3)
    full.clear()
    audit.note("kept", None, "")
    audit.close()
    said = [json.loads(line) for line in (tmp_path / "audit").read_text().splitlines()[1:]]
    assert [(line["action"], line.get("lines")) for line in said] == [("lines lost", 3), ("kept", None)]
    warnings = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 1
    assert "No space left" in warnings[0]


def test_disk_that_hangs_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CLOSE_S", 0.1)
    audit = AuditLog(tmp_path / "audit")
    hanging = threading.Event()

    def write(_file: int, _data: bytes) -> None:
        hanging.wait()

    monkeypatch.setattr(module, "_write", write)
    for _ in range(2 * MAX_WAITING):
        audit.note("reset", WHO, "192.0.2.1")
    audit.close()
    hanging.set()
