"""Lockstep in images, as they are run: hardened, and with a user of its own for the program."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from pluriverse.adapters.gymnasium import PluriverseEnv
from pluriverse.remotes.docker import LIMITS
from support.remotes import HARDENED, in_container

pytestmark = pytest.mark.container("doom")

STEPS = 200


def fingerprints(address: str, env_id: str) -> list[str]:
    """Of all that an agent sees and earns in some steps."""
    env = PluriverseEnv(env_id, remotes=address, clock="lockstep", size=(84, 84))
    try:
        env.reset(seed=5)
        seen: list[str] = []
        for number in range(STEPS):
            _, reward, terminated, truncated, _ = env.step(number % env.core.actions.n)
            seen.append(f"{hashlib.sha256(env.core.picture(0).tobytes()).hexdigest()} {reward}")
            assert not terminated
            assert not truncated
        return seen
    finally:
        env.close()


@pytest.mark.parametrize("limits", [HARDENED, LIMITS])
@pytest.mark.parametrize(
    ("runtime", "env_id"), [("gym-core", "gym-core.PongDeterministic-v3"), ("doom", "doom.Basic-v0")]
)
def test_same_steps_in_two_containers_give_the_same_frames(runtime: str, env_id: str, limits: dict[str, Any]) -> None:
    with in_container(runtime=runtime, limits=limits) as one, in_container(runtime=runtime, limits=limits) as other:
        first, second = (fingerprints(remote.address, env_id) for remote in (one, other))
    assert first == second
    assert len(set(first)) > STEPS / 4
