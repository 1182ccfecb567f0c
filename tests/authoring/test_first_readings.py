"""Ends that hold as an episode begins are found without running anything."""

from pathlib import Path
from typing import Any

import pytest
from pluriverse_authoring.first_readings import ends_at_once, values_when_ready
from pluriverse_protocol.recordings import Said
from pluriverse_server.manifest.game import GameTables
from support.recordings import begin, ready, write

SOURCES: dict[str, Any] = {
    "coins": {"from": "log", "pattern": "coin"},
    "level": {"from": "log", "pattern": r"level (?P<value>\d+)"},
    "lives": {"from": "screen", "read": "number", "region": [0, 0, 9, 9]},
}


def game(done: dict[str, str], wait: str | None = None) -> GameTables:
    episode = {"done": done, **({"ready": wait} if wait else {})}
    tables = {"program": {"command": ["game"]}, "reset": {"by": "restart"}, "sources": SOURCES, "episode": episode}
    return GameTables.model_validate(tables)


@pytest.mark.parametrize(
    ("done", "wait", "complaint"),
    [
        ("coins == 0", None, "'coins == 0' holds already at the first reading, where coins is 0.0: no episode could"),
        ("lives < 1", "level >= 1 and lives == 0", "'lives < 1' holds already where ready does, where lives is 0: "),
        ("lives == 0", "lives == 3", None),
        ("level == 0", None, None),
        ("coins > 3 or lives == 0", None, None),
    ],
)
def test_an_end_that_holds_at_first_is_told(done: str, wait: str | None, complaint: str | None) -> None:
    told = [message for _, message in ends_at_once(game({"lost": done}, wait), {})]
    assert len(told) == (complaint is not None)
    assert all(message.startswith(str(complaint)) for message in told)


def test_an_end_that_held_when_a_recorded_episode_was_ready_is_told(tmp_path: Path) -> None:
    reading = {"value": 0.0, "raw": 0.0, "confidence": 1.0, "state": "ok"}
    read = Said(0.2, {"report": "readings", "episode": 1, "readings": {"lives": reading}})
    path = write(tmp_path / "a.plrec", [begin(0.1), read, ready(0.3)])
    values = values_when_ready(path, "toy.Toy-v0")
    assert values == {"lives": 0.0}
    ((place, message),) = ends_at_once(game({"lost": "lives == 0"}), {path.name: values})
    assert place == ("episode", "done", "lost")
    assert "holds already when an episode was ready in a.plrec, where lives is 0.0" in message
    assert values_when_ready(path, "toy.Other-v0") == {}
    assert values_when_ready(write(tmp_path / "b.plrec", [begin(0.1)], cut=3), "toy.Toy-v0") == {}
