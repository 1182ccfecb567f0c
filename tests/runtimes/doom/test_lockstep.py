"""The same tics for the same keys, in a whole remote."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Literal

import pytest
from doom.engine import HEIGHT, WIDTH
from pluriverse.adapters.gymnasium import PluriverseEnv
from support.remotes import MachineRemote, on_machine

pytestmark = [pytest.mark.slow, pytest.mark.display]

BASIC = "doom.Basic-v0"


@contextmanager
def connected(remote: MachineRemote, clock: Literal["realtime", "lockstep"]) -> Generator[PluriverseEnv]:
    address = remote.address
    env = PluriverseEnv(BASIC, remotes=address, clock=clock)
    try:
        yield env
    finally:
        env.close()


def played(env: PluriverseEnv, seed: int) -> list[tuple[bytes, float]]:
    """An episode's pictures and rewards, to its end."""
    observation, _ = env.reset(seed=seed)
    seen = [(picture(observation), 0.0)]
    over = False
    while not over:
        observation, reward, terminated, truncated, _ = env.step(len(seen) % 3)
        seen.append((picture(observation), float(reward)))
        over = terminated or truncated
    return seen


def picture(observation: dict[str, Any]) -> bytes:
    assert observation["vision"].shape == (HEIGHT, WIDTH, 3)
    return observation["vision"].tobytes()


def test_same_seed_and_keys_give_the_same_tics_also_after_real_time() -> None:
    with on_machine(runtime="doom") as remote:
        with connected(remote, "lockstep") as env:
            first, other = played(env, 3), played(env, 4)
        with connected(remote, "realtime") as env:
            env.reset()
            observation, *_ = env.step(0)
            assert observation["vision"].any()
        with connected(remote, "lockstep") as env:
            second = played(env, 3)
    assert first == second
    assert first[0] != other[0]
    assert len(first) > 200
    assert len({pixels for pixels, _ in first}) > 100
