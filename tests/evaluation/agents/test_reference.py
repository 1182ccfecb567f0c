from collections.abc import Generator

import pytest
from pluriverse_eval.agents.reference import RandomAgent, StillAgent
from pluriverse_eval.modes import parse_modes
from pluriverse_eval.play import Play
from support.evaluated import task
from support.remotes import on_machine

pytestmark = pytest.mark.display

(PAUSED,) = parse_modes("paused")


@pytest.fixture(params=["keys", pytest.param("pointer", marks=pytest.mark.slow)])
def play(request: pytest.FixtureRequest, lockstep: Play) -> Generator[Play]:
    if request.param == "keys":
        lockstep.task = task(seconds=3)
        yield lockstep
        return
    env = "wob.mini.ClickTest-v0"
    with on_machine(runtime="world-of-bits") as remote, Play(task(env=env, seconds=3), PAUSED, remote.address) as play:
        yield play


def test_random_agent_does_the_same_for_the_same_seed_and_something_else_for_another(play: Play) -> None:
    shown: list[bytes] = []
    for seed in (1, 1, 2):
        play.start(seed, PAUSED)
        RandomAgent().play(play)
        assert play.over
        assert play.reactions_ms
        shown.append(play.pixels().tobytes())
    assert shown[0] == shown[1] != shown[2]


def test_still_agent_does_nothing_to_the_end(play: Play) -> None:
    play.start(1, PAUSED)
    StillAgent().play(play)
    assert play.ended == "budget"
    assert play.reactions_ms == []
