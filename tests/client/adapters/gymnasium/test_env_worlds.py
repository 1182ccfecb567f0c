"""Environments that go on beside the one that they were forked of, and moments that have a name."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from pluriverse.adapters.gymnasium import PluriverseEnv
from pluriverse.errors import ConfigurationError, RemoteFailed
from support.remotes import on_machine

pytestmark = [pytest.mark.display, pytest.mark.timeout(240)]


def made(address: str, env_id: str) -> PluriverseEnv:
    return PluriverseEnv(env_id, remotes=address, clock="lockstep", frame_skip=4, size=(60, 80))


def played(env: PluriverseEnv, actions: Sequence[int]) -> list[bytes]:
    return [env.step(action)[0].tobytes() for action in actions]


# One of each kind: an emulator that keeps its state, a program in a terminal, one with threads, and a page.
@pytest.mark.parametrize(
    "env_id", ["gym-core.PongDeterministic-v3", "desktop.Vitetris-v0", "desktop.LTris-v0", "internet.2048-v0"]
)
def test_forks_and_restores_go_on_as_the_environment_did(env_id: str) -> None:
    chance = random.Random(env_id)
    with on_machine(runtime=env_id.partition(".")[0]) as remote:
        env = made(remote.address, env_id)
        try:
            env.reset(seed=3)
            n = int(env.action_space.n)  # type: ignore[attr-defined]
            actions = [chance.randrange(n) for _ in range(10)]
            played(env, actions)
            moment = env.snapshot()
            forked = env.fork(3) if env_id != "internet.2048-v0" else None
            first = played(env, actions)
            assert len(set(first)) > 1
            env.restore(moment)
            assert played(env, actions) == first
            if forked is None:
                return
            for action, expected in zip(actions, first, strict=True):
                observations, *_ = forked.step(np.full(3, action))
                assert [each.tobytes() for each in observations] == [expected] * 3
            forked.close()
            again = env.fork(1)
            assert env.core.env.n == again.core.env.n == 1
        finally:
            env.close()


def test_snapshot_with_a_name_is_there_for_another_environment_until_it_is_released(address: str) -> None:
    env = made(address, "gym-core.PongDeterministic-v3")
    env.reset(seed=3)
    env.step(2)
    env.snapshot("first step")
    first = played(env, [2, 3, 2])
    with pytest.raises(ConfigurationError, match="name"):
        env.snapshot("")
    env.close()
    other = made(address, "gym-core.PongDeterministic-v3")
    try:
        other.reset(seed=4)
        other.restore("first step")
        assert played(other, [2, 3, 2]) == first
        other.release("first step")
        with pytest.raises(RemoteFailed, match="unknown snapshot 'first step'"):
            other.restore("first step")
    finally:
        other.close()
