"""The recording that the runtime carries, read again: nothing is misread, counted twice or missed."""

from __future__ import annotations

import json

from pluriverse_authoring.labels import beside, labels_path, read_labels
from pluriverse_authoring.report import as_json
from pluriverse_authoring.score import score_recording
from pluriverse_server.manifest.runtime import load
from support.remotes import ROOT

INTERNET = ROOT / "runtimes/internet"
RECORDING = INTERNET / "recordings/minesweeper.plrec"


def test_every_reward_and_every_end_of_minesweeper_is_the_true_one() -> None:
    labels = read_labels(labels_path(RECORDING))
    result = score_recording(INTERNET, load(INTERNET), RECORDING, labels).result
    assert result.disagreements == []
    assert result.rewards.compared
    assert result.dones.compared
    assert as_json(RECORDING, result) == json.loads(beside(RECORDING, ".report.json").read_text())
