"""The movies in lockstep, played twice by an agent in a whole remote: the same seed and actions give the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.nightly import nightly_but
from support.remotes import MachineRemote, on_machine
from support.repeated import assert_repeatable

pytestmark = [pytest.mark.slow, pytest.mark.display]

STEPS = 25


@pytest.fixture(scope="module")
def remote() -> Iterator[MachineRemote]:
    """A remote that plays the runtime, for all tests."""
    with on_machine(runtime="flashgames") as running:
        yield running


@pytest.mark.parametrize("movie", nightly_but(["Racer"], ["Racer", "Shooter", "Puzzle"]))
def test_same_seed_and_actions_give_the_same_pictures_and_rewards(remote: MachineRemote, movie: str) -> None:
    assert_repeatable(f"flashgames.{movie}-v0", remote.address, frame_skip=2, steps=STEPS)
