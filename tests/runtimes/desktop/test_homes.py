"""The settings and scores that the games begin with: no game asks for a name instead of saying that it is over."""

import re
import subprocess

import pytest
from support.free_games import RUNTIME

pytestmark = [pytest.mark.slow, pytest.mark.display]

# Nobody makes so many in the time that an episode has.
OUT_OF_REACH = 1_000_000


def test_vitetris_reads_ten_scores_that_nobody_beats() -> None:
    home = RUNTIME / "vitetris/home"
    command = ["/usr/games/vitetris", "hiscores"]
    said = subprocess.run(command, env={"HOME": str(home)}, capture_output=True, text=True, check=True).stdout
    scores = [int(score) for score in re.findall(r"^ ?\d+\. \w+ +(\d+) ", said, re.MULTILINE)]
    assert len(scores) == 10
    assert min(scores) > OUT_OF_REACH


def test_chromium_bsu_has_five_scores_that_nobody_beats_at_the_skill_that_is_played() -> None:
    home = RUNTIME / "chromium-bsu/home"
    settings = dict(line.split() for line in (home / ".chromium-bsu").read_text().splitlines())
    comment, *lines = (home / ".chromium-bsu-score").read_text().splitlines()
    # A file that doesn't begin so is taken for one of the game's older, binary ones.
    assert comment.startswith("#")
    skill = round(10 * float(settings["gameSkillBase"]))
    assert [line.split()[:2] for line in lines] == [[str(skill), str(rank)] for rank in range(5)]
    assert all(float(line.split()[2]) > OUT_OF_REACH for line in lines)
