"""What Gymnasium's users rely on beside EnvPool's own calls."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, VectorEnv
from pluriverse.adapters import envpool
from pluriverse.adapters.info import Ended
from pluriverse.errors import Misuse

pytestmark = pytest.mark.display


@pytest.fixture(scope="module")
def lake() -> Generator[Any]:
    env = envpool.make("gym-core.FrozenLake-v1", "gymnasium", remotes="local:2", max_episode_steps=2)
    yield env
    env.close()


def test_it_is_a_vector_of_gymnasiums_and_says_when_it_resets(lake: Any) -> None:
    assert {VectorEnv, gymnasium.Env} <= set(type(lake).__mro__)
    assert lake.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert (lake.num_envs, len(lake)) == (2, 2)
    assert lake.single_action_space == lake.action_space == gymnasium.spaces.Discrete(4)
    assert lake.all_env_ids.tolist() == [0, 1]
    assert lake.unwrapped is lake


def test_numbers_of_ours_are_the_same_at_every_step_and_reset(lake: Any) -> None:
    infos = [lake.reset()[1], *(lake.step(np.array([0, 0]))[-1] for _ in range(4))]
    kinds = [{name: (each.dtype, each.shape) for name, each in info["pluriverse"].items()} for info in infos]
    assert kinds == kinds[:1] * 5
    assert {"lost", "TimeLimit.truncated", "stats.reward.count"} <= kinds[0].keys()
    assert all(dtype.kind in "bif" for dtype, _ in kinds[0].values())
    assert [info["pluriverse"]["TimeLimit.truncated"].tolist() for info in infos[1:3]] == [[False] * 2, [True] * 2]
    assert [info["pluriverse"]["ended"].tolist() for info in infos[1:3]] == [[Ended.NO] * 2, [Ended.STEP_LIMIT] * 2]


def test_reset_of_some_leaves_the_others(lake: Any) -> None:
    lake.reset()
    lake.step(np.array([0, 0]))
    _, info = lake.reset(np.array([1]))
    assert (info["env_id"].tolist(), info["elapsed_step"].tolist()) == ([1], [0])
    assert lake.step(np.array([0, 0]))[4]["elapsed_step"].tolist() == [2, 1]


def test_reset_takes_no_options_and_ignores_a_seed_with_a_warning(lake: Any) -> None:
    with pytest.raises(Misuse, match="reset has no options"):
        lake.reset(options={"other": 1})
    with pytest.warns(UserWarning, match="ignored"):
        lake.reset(seed=3)
