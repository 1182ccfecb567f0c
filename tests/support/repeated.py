"""Episodes in lockstep that are played again, to see whether they are the same."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple, cast

import numpy as np
from pluriverse.adapters.gymnasium import PluriverseEnv


class Step(NamedTuple):
    """A hash of all that was seen, and what was earned."""

    seen: str
    reward: float
    over: bool


def assert_repeatable(env_id: str, remotes: str, *, frame_skip: int, steps: int) -> None:
    """Play an episode in lockstep twice, and another seed's between: those of one seed are the same."""
    env = PluriverseEnv(env_id, remotes=remotes, clock="lockstep", frame_skip=frame_skip)
    try:
        first, other, again = (played(env, seed, steps) for seed in (3, 4, 3))
    finally:
        env.close()
    assert first == again
    assert first != other


def played(env: PluriverseEnv, seed: int, steps: int) -> list[Step]:
    """Return the first steps of an episode, or all there are, with actions that are drawn from the seed."""
    env.action_space.seed(seed)
    observation, _ = env.reset(seed=seed)
    taken = [Step(hashed(observation), 0.0, over=False)]
    while len(taken) <= steps and not taken[-1].over:
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert "late" not in info
        taken.append(Step(hashed(observation), float(reward), terminated or truncated))
    return taken


def hashed(observation: Any) -> str:
    """Return a hash of an observation, text included."""
    parts = cast("dict[str, Any]", observation if isinstance(observation, dict) else {"vision": observation})
    digest = hashlib.blake2b(digest_size=8)
    for name, part in sorted(parts.items()):
        digest.update(name.encode())
        digest.update(part.tobytes() if isinstance(part, np.ndarray) else str(part).encode())
    return digest.hexdigest()
