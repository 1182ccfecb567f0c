"""The examples that go back and fork: what they say is so."""

import re
import subprocess
import sys

import pytest
from support.remotes import ROOT


def said_by(example: str, *options: str) -> str:
    command = [sys.executable, str(ROOT / "examples" / example), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def test_best_way_that_is_found_scores_the_same_when_it_is_played_from_the_start() -> None:
    said = said_by("go_explore.py", "--steps", "300")
    best = re.search(r"scores (\d+); played again (\d+)$", said.strip())
    assert best, said
    assert best[1] == best[2]
    assert int(best[1]) > 0


@pytest.mark.parametrize(
    ("example", "options", "said"),
    [
        ("search_2048.py", "--moves 3 --seeds 1", r"(seed 1, \w+: \d+, \d+ s\n){3}chance \d+, greed \d+, search \d+"),
        ("group_rollouts.py", "--worlds 3 --steps 4 --updates 2", r"group 1: .*\ngroup 2: "),
    ],
)
def test_worlds_that_are_forked_play_on(example: str, options: str, said: str) -> None:
    assert re.match(said, said_by(example, *options.split()))
