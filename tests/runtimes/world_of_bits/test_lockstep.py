"""Tasks in lockstep, played twice by an agent in a whole remote: the same seed and actions give the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pluriverse.adapters.gymnasium import PluriverseEnv
from support.remotes import MachineRemote, on_machine
from support.repeated import played

# Still, moving by timers, drawn on a canvas, and a flight search.
TASKS = ("mini.ClickTest", "mini.ChaseCircle", "mini.BisectAngle", "flight.Alaska")
STEPS = 12


@pytest.fixture(scope="module")
def remote(vendored: None) -> Iterator[MachineRemote]:
    """A remote that plays the runtime, for all tests."""
    del vendored
    with on_machine(runtime="world-of-bits") as running:
        yield running


@pytest.mark.parametrize("task", TASKS)
def test_same_seed_and_actions_give_the_same_pictures_and_rewards(remote: MachineRemote, task: str) -> None:
    env = PluriverseEnv(f"wob.{task}-v0", remotes=remote.address, clock="lockstep", frame_skip=4)
    try:
        first, other, again = (played(env, seed, STEPS) for seed in (3, 4, 3))
    finally:
        env.close()
    assert first == again
    assert first != other
