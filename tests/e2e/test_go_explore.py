"""The example that explores from snapshots: what it says of its best way is so."""

from __future__ import annotations

import re
import subprocess
import sys

from support.remotes import ROOT


def test_best_way_that_is_found_scores_the_same_when_it_is_played_from_the_start() -> None:
    command = [sys.executable, str(ROOT / "examples/go_explore.py"), "--steps", "300"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    best = re.search(r"scores (\d+); played again (\d+)$", said.strip())
    assert best, said
    assert best[1] == best[2]
    assert int(best[1]) > 0
