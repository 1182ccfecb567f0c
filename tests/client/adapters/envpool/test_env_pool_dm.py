"""EnvPool's dm_env flavour."""

from __future__ import annotations

from typing import Any

import dm_env
import numpy as np
import pytest
from pluriverse.adapters import envpool

pytestmark = pytest.mark.display


def test_steps_are_first_mid_and_last_and_discounts_are_envpools() -> None:
    env: Any = envpool.make("gym-core.FrozenLake-v1", "dm", remotes="local:1", max_episode_steps=2)
    try:
        assert isinstance(env, dm_env.Environment)
        steps: list[Any] = [env.reset(), *(env.step(np.array([0])) for _ in range(4))]
    finally:
        env.close()
    assert [int(step.step_type[0]) for step in steps] == [0, 1, 2, 0, 1]
    assert [float(step.discount[0]) for step in steps] == [1.0, 1.0, 0.0, 1.0, 1.0]
    assert steps[0].observation.obs.shape == (1, *env.observation_spec().obs.shape)
    assert steps[0].observation.env_id.tolist() == steps[0].observation.players.env_id.tolist() == [0]
    assert env.action_spec().num_values == 4
