"""Tasks in lockstep, played twice by an agent in a whole remote: the same seed and actions give the same."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import pytest
from support.remotes import MachineRemote, on_machine
from support.repeated import assert_repeatable

# Still, moving by timers, drawn on a canvas, and a flight search.
TASKS = ("mini.ClickTest", "mini.ChaseCircle", "mini.BisectAngle", "flight.Alaska")
STEPS = 12


@pytest.fixture(scope="module")
def remote(vendored: None) -> Iterator[MachineRemote]:
    """A remote that plays the runtime, for all tests; its temporary files have longer paths than sockets may have."""
    del vendored
    with tempfile.TemporaryDirectory(suffix="x" * 200) as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", folder)
        with on_machine(runtime="world-of-bits") as running:
            yield running


@pytest.mark.parametrize("task", TASKS)
def test_same_seed_and_actions_give_the_same_pictures_and_rewards(remote: MachineRemote, task: str) -> None:
    assert_repeatable(f"wob.{task}-v0", remote.address, frame_skip=4, steps=STEPS)
