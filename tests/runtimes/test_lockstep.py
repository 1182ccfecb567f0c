"""Episodes in lockstep, played twice by an agent in a whole remote: the same seed and actions give the same."""

import subprocess
import sys
from collections.abc import Generator

import pytest
from pluriverse.adapters.gymnasium import PluriverseEnv
from support.nightly import nightly_but
from support.remotes import on_machine
from support.repeated import assert_repeatable, played

EACH_DAY = ["desktop.Vitetris-v0", "doom.Basic-v0", "flashgames.Racer-v0"]
PLAYED = [
    *EACH_DAY,
    *("desktop.ChromiumBsu-v0", "desktop.FrozenBubble-v0", "desktop.Gnome2048-v0", "desktop.HexAHop-v0"),
    *("desktop.KoboDeluxe-v0", "desktop.LTris-v0", "desktop.MoonBuggy-v0", "desktop.Powermanga-v0"),
    *("desktop.SlimeVolley-v0", "flashgames.Shooter-v0", "flashgames.Puzzle-v0"),
]

# Enough for a program to wait longer for a processor than a frame takes.
LOOPS = 30

pytestmark = [pytest.mark.slow, pytest.mark.display, pytest.mark.timeout(240)]


@pytest.mark.parametrize("env_id", nightly_but(EACH_DAY, PLAYED))
def test_same_seed_and_actions_give_the_same_pictures_and_rewards(env_id: str) -> None:
    with on_machine("--env", env_id, runtime=env_id.partition(".")[0]) as remote:
        assert_repeatable(env_id, remote.address, frame_skip=4, steps=60)


@pytest.fixture
def loops() -> Generator[list[subprocess.Popen[bytes]]]:
    """Processes that compute without end, once there are any."""
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for loop in started:
        loop.kill()
        loop.wait()


@pytest.mark.nightly
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("env_id", ["desktop.KoboDeluxe-v0", "desktop.Gnome2048-v0", "flashgames.Racer-v0"])
def test_an_episode_is_the_same_beside_thirty_loops_as_alone(env_id: str, loops: list[subprocess.Popen[bytes]]) -> None:
    env = PluriverseEnv(env_id, remotes="local:1", clock="lockstep", frame_skip=4)
    try:
        alone = played(env, 3, 100)
        loops += [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(LOOPS)]
        assert played(env, 3, 100) == alone
    finally:
        env.close()
