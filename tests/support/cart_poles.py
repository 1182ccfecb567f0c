"""Gymnasium's own CartPole beside ours in lockstep: the same calls are answered alike."""

from __future__ import annotations

from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from pluriverse.adapters.gymnasium import PluriverseVectorEnv
from pluriverse.adapters.gymnasium.shared import drawn_seed, generator_of

CART: Final = "gym-core.CartPoleLowD-v0"

# Within which several poles fall, whatever is done.
STEPS: Final = 60


class Seeded(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Gymnasium's own environment, with the seeds of episodes that follow a seeded one drawn as ours are."""

    generator: np.random.Generator | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if seed is not None:
            self.generator = generator_of(seed)
        return self.env.reset(seed=drawn_seed(self.generator) if seed is None else seed, options=options)


def assert_answers_as_gymnasium(ours: PluriverseVectorEnv) -> None:
    """Play ``CART`` with a vector of it and with Gymnasium's, in the same mode, and compare every answer."""
    mode, n = ours.autoreset_mode, ours.num_envs
    theirs = SyncVectorEnv([lambda: Seeded(gymnasium.make("CartPole-v0"))] * n, autoreset_mode=mode)
    _assert_alike(ours.reset(seed=7), theirs.reset(seed=7), "reset")
    generator = np.random.default_rng(1)
    ends = 0
    for step in range(STEPS):
        actions = generator.integers(0, 2, n)
        answer = ours.step(actions)
        _assert_alike(answer, theirs.step(actions), step)
        ended = answer[2] | answer[3]
        ends += ended.sum()
        if mode is AutoresetMode.DISABLED and ended.any():
            masked = ours.reset(options={"reset_mask": ended})
            _assert_alike(masked, theirs.reset(options={"reset_mask": ended}), step)
            np.testing.assert_array_equal(masked[1]["_lost"], ended)
    assert ends >= n
    seeds = [3, *[None] * (n - 1)]
    _assert_alike(ours.reset(seed=seeds), theirs.reset(seed=seeds), "reset in the middle")


def _assert_alike(ours: Any, theirs: Any, context: Any) -> None:
    """Two answers to one call, of which ours has a picture, too."""
    assert len(ours) == len(theirs)
    np.testing.assert_array_equal(ours[0]["observation"], theirs[0], err_msg=str(context))
    for mine, other in zip(ours[1:-1], theirs[1:-1], strict=True):
        np.testing.assert_array_equal(mine, other, err_msg=str(context))
        assert mine.dtype == other.dtype
    mine, other = ours[-1], theirs[-1]
    assert mine.keys() >= other.keys()
    for key in other.keys() & {"_final_obs", "_final_info"}:
        np.testing.assert_array_equal(mine[key], other[key])
    for one, another in zip(mine.get("final_obs", []), other.get("final_obs", []), strict=True):
        np.testing.assert_array_equal(one if one is None else one["observation"], another)
