"""The recordings that the games carry, read again: nothing is misread, counted twice or missed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pluriverse_server.authoring.labels import beside, labels_path, read_labels
from pluriverse_server.authoring.report import as_json
from pluriverse_server.authoring.score import score_recording
from pluriverse_server.manifest.runtime import load
from support.remotes import ROOT

DESKTOP = ROOT / "runtimes/desktop"
MANIFEST = load(DESKTOP)
RECORDINGS = sorted((DESKTOP / "recordings").glob("*.plrec"))

# With the game's own file: what a newcomer is to read of it at once.
MAX_LINES = 70


def test_every_game_has_a_recording_and_is_one_small_file() -> None:
    games = {path.stem for path in (DESKTOP / "games").glob("*.toml")}
    # Of a game whose end doesn't fit into one there are two, the second called GAME-over.
    assert games == {path.stem.removesuffix("-over") for path in RECORDINGS}
    for game in games:
        assert len((DESKTOP / f"games/{game}.toml").read_text().splitlines()) <= MAX_LINES


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_every_reward_and_every_end_is_the_true_one(recording: Path) -> None:
    labels = read_labels(labels_path(recording))
    assert labels.rewards, "a recording without a reward says nothing"
    result = score_recording(DESKTOP, MANIFEST, recording, labels).result
    assert result.disagreements == []
    assert result.perfect
    # And the report beside it is of these very readings.
    written = json.loads(beside(recording, ".report.json").read_text())
    assert as_json(recording, result) == written
