"""A runtime whose pictures are still to be cut goes on without what needs them."""

from pathlib import Path
from typing import Any

from pluriverse_server.manifest.draft import drop_sources, missing_pictures
from pluriverse_server.manifest.game import GameTables

REGION = [0, 0, 10, 10]
GAME: dict[str, Any] = {
    "program": {"command": ["game"]},
    "reset": {
        "by": "keys",
        "start": [{"until": "title"}, {"keys": ["a"]}],
        "steps": [{"keys": ["space"], "until": "score == 0"}, {"until": "health > 0"}],
    },
    "sources": {
        "score": {"from": "screen", "read": "number", "region": REGION, "glyphs": "score.png"},
        "title": {"from": "screen", "read": "template", "region": REGION, "image": "title.png"},
        "health": {"from": "screen", "read": "bar", "region": REGION, "colour": "#ff0000"},
        "story": {"from": "screen", "read": "text", "region": REGION},
    },
    "rewards": [{"source": "score"}, {"source": "health"}],
    "episode": {
        "ready": "score == 0 and health > 0",
        "done": {"dead": "health == 0", "won": "score > 100"},
        "text": "story",
        "observation": ["score", "health"],
    },
}


def game(**changes: Any) -> GameTables:
    return GameTables.model_validate({**GAME, **changes})


def test_pictures_that_are_not_there_are_found(tmp_path: Path) -> None:
    assert missing_pictures(game(), tmp_path) == {"score": "score.png", "title": "title.png"}
    (tmp_path / "title.png").touch()
    assert missing_pictures(game(), tmp_path) == {"score": "score.png"}


def test_game_goes_on_without_what_they_are_needed_for() -> None:
    left = drop_sources(game(), frozenset({"score", "title"}))
    assert list(left.sources) == ["health", "story"]
    assert [reward.source for reward in left.rewards] == ["health"]
    assert left.episode.ready is None
    assert left.episode.done == {"dead": "health == 0"}
    assert left.episode.text == "story"
    assert left.episode.observation == ["health"]
    assert [step.keys for step in left.reset.start] == [[0x61]]
    assert [step.until for step in left.reset.steps] == ["health > 0"]
