from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pluriverse_server.authoring.look.live import LiveSources
from pluriverse_server.manifest.game import GameTables
from pluriverse_server.scraper import reader_thread

SCREEN = np.zeros((60, 80, 4), np.uint8)
TABLE = {"from": "python", "file": "mine.py", "region": [0, 0, 10, 10]}
GAME = GameTables.model_validate(
    {"program": {"command": ["true"]}, "reset": {"by": "restart"}, "sources": {"score": TABLE}}
)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LiveSources]:
    found = LiveSources(tmp_path)
    yield found
    found.close()


def write(path: Path, body: str, at: int) -> None:
    path.write_text(f"import time\n\ndef read(picture, previous):\n    {body}\n")
    os.utime(path, (at, at))


def read(live: LiveSources) -> dict[str, Any]:
    return live.read(GAME, SCREEN, None)["score"]


def test_a_function_that_is_written_meanwhile_is_read_as_it_is_now(live: LiveSources, tmp_path: Path) -> None:
    assert "can't be read" in read(live)["problem"]
    write(tmp_path / "mine.py", "return 1, 0.5", 100)
    assert read(live) == {"value": 1, "sure": 0.5}
    write(tmp_path / "mine.py", "return 2, 1.0", 101)
    assert read(live) == {"value": 2, "sure": 1.0}


def test_a_function_that_hangs_is_called_no_more_until_it_is_mended(
    live: LiveSources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_thread, "HANG_S", 0.5)
    called = tmp_path / "called"
    write(tmp_path / "mine.py", f"with open({str(called)!r}, 'a') as file: file.write('x')\n    time.sleep(5)", 100)
    assert "hangs" in read(live)["problem"]
    assert "hangs" in read(live)["problem"]
    assert called.read_text() == "x"
    write(tmp_path / "mine.py", "return 3, 1.0", 101)
    assert read(live)["value"] == 3
