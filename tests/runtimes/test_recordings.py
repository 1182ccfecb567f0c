"""The recordings that runtimes carry, read again: nothing is misread, counted twice or missed."""

import json
from pathlib import Path

import pytest
from pluriverse_authoring.labels import beside, labels_path, read_labels
from pluriverse_authoring.report import as_json
from pluriverse_authoring.score import score_recording
from pluriverse_server.manifest.runtime import load
from support.nightly import nightly_but
from support.remotes import ROOT

DESKTOP = ROOT / "runtimes/desktop"
MANIFEST = load(DESKTOP)
RECORDINGS = sorted((DESKTOP / "recordings").glob("*.plrec"))
MINESWEEPER = ROOT / "runtimes/internet/recordings/minesweeper.plrec"
EACH_DAY = (DESKTOP / "recordings/gnome-2048.plrec", MINESWEEPER)

# With the game's own file: what a newcomer is to read of it at once.
MAX_LINES = 70


def test_every_game_has_a_recording_and_is_one_small_file() -> None:
    games = {path.stem for path in (DESKTOP / "games").glob("*.toml")}
    # What doesn't fit into one, such as its end or some keys, is in others, called GAME-over and so on.
    assert games == {path.stem for path in RECORDINGS} & games
    assert all(any(path.stem == game or path.stem.startswith(f"{game}-") for game in games) for path in RECORDINGS)
    for game in games:
        assert len((DESKTOP / f"games/{game}.toml").read_text().splitlines()) <= MAX_LINES


@pytest.mark.parametrize("recording", nightly_but(EACH_DAY, [*RECORDINGS, MINESWEEPER]), ids=lambda path: path.stem)
def test_every_reward_and_every_end_is_the_true_one(recording: Path) -> None:
    labels = read_labels(labels_path(recording))
    assert labels.rewards, "a recording without a reward says nothing"
    runtime = recording.parents[1]
    result = score_recording(runtime, load(runtime), recording, labels)
    assert result.disagreements == []
    # And the report beside it is of these very readings.
    written = json.loads(beside(recording, ".report.json").read_text())
    assert as_json(recording, result) == written
