"""Episodes in lockstep, played twice by an agent in a whole remote: the same seed and actions give the same."""

import pytest
from support.nightly import nightly_but
from support.remotes import on_machine
from support.repeated import assert_repeatable

EACH_DAY = ["desktop.Vitetris-v0", "doom.Basic-v0", "flashgames.Racer-v0"]
PLAYED = [
    *EACH_DAY,
    *("desktop.ChromiumBsu-v0", "desktop.FrozenBubble-v0", "desktop.Gnome2048-v0", "desktop.HexAHop-v0"),
    *("desktop.KoboDeluxe-v0", "desktop.LTris-v0", "desktop.MoonBuggy-v0", "desktop.Powermanga-v0"),
    *("desktop.SlimeVolley-v0", "flashgames.Shooter-v0", "flashgames.Puzzle-v0"),
]

pytestmark = [pytest.mark.slow, pytest.mark.display, pytest.mark.timeout(240)]


@pytest.mark.parametrize("env_id", nightly_but(EACH_DAY, PLAYED))
def test_same_seed_and_actions_give_the_same_pictures_and_rewards(env_id: str) -> None:
    with on_machine("--env", env_id, runtime=env_id.partition(".")[0]) as remote:
        assert_repeatable(env_id, remote.address, frame_skip=4, steps=60)
