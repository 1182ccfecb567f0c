"""A sample of docs/matrix.md: programs of different engines, played twice by an agent in a whole remote."""

import pytest
from support.remotes import on_machine
from support.repeated import assert_repeatable

SAMPLE = [
    *("matrix.Nsnake-v0", "matrix.Xjump-v0", "matrix.Lbreakout2-v0", "matrix.GardenOfColouredLights-v0"),
    "matrix.Mousepad-v0",
]

pytestmark = [pytest.mark.slow, pytest.mark.display, pytest.mark.nightly, pytest.mark.timeout(240)]


@pytest.mark.parametrize("env_id", SAMPLE)
def test_same_seed_and_actions_give_the_same_pictures(env_id: str) -> None:
    with on_machine("--env", env_id, runtime="../bench/matrix") as remote:
        assert_repeatable(env_id, remote.address, frame_skip=4, steps=100)
