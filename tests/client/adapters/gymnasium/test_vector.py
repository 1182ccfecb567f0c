from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from pluriverse.adapters.gymnasium import PluriverseVectorEnv
from pluriverse.errors import ActionError, Misuse, ResetNeeded
from support.cart_poles import CART, assert_answers_as_gymnasium
from support.remotes import daemon_at

PONG = "gym-core.PongDeterministic-v3"
pytestmark = [pytest.mark.display, pytest.mark.filterwarnings("ignore:.*is out of date:DeprecationWarning")]

Make = Callable[..., PluriverseVectorEnv]


@pytest.fixture
def make(address: str) -> Generator[Make]:
    made: list[PluriverseVectorEnv] = []

    def make(env_id: str, **options: Any) -> PluriverseVectorEnv:
        made.append(PluriverseVectorEnv(env_id, num_envs=2, remotes=address, clock="lockstep", **options))
        return made[-1]

    yield make
    for env in made:
        env.close()


@pytest.mark.parametrize("mode", AutoresetMode)
def test_calls_in_lockstep_are_answered_as_gymnasium_answers_them(mode: AutoresetMode, make: Make) -> None:
    env = make(CART, autoreset_mode=mode)
    assert env.metadata["autoreset_mode"] is mode
    assert_answers_as_gymnasium(env)


def test_pictures_of_all_are_rendered(make: Make) -> None:
    env = make(PONG, render_mode="rgb_array", size=(20, 20))
    with pytest.raises(ResetNeeded):
        env.render()
    env.reset()
    pictures = env.render()
    assert pictures is not None
    assert [picture.shape for picture in pictures] == [(210, 160, 3)] * 2


def test_wrong_use_says_the_rule(make: Make) -> None:
    env = make(CART, autoreset_mode="Disabled")
    both = np.array([True, True])
    with pytest.raises(Misuse, match="the first reset must reset all"):
        env.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(Misuse, match="3 seeds for 2"):
        env.reset(seed=[1, 2, 3])
    for mask in ([True, True], np.array([1, 0]), np.array([True])):
        with pytest.raises(Misuse, match="NumPy array of 2 booleans"):
            env.reset(options={"reset_mask": mask})
    with pytest.raises(Misuse, match="selects no environment"):
        env.reset(options={"reset_mask": ~both})
    with pytest.raises(Misuse, match="no options"):
        env.reset(options={"mask": both})
    env.reset(options={"reset_mask": both})
    with pytest.raises(Misuse, match="3 actions for 2"):
        env.step(np.array([0, 1, 0]))
    with pytest.raises(ActionError, match="0 to 1"):
        env.step(np.array([0, 7]))


def test_lost_remote_truncates_its_own_episode_and_the_other_plays_on() -> None:
    options: dict[str, Any] = {"clock": "lockstep", "autoreset_mode": "SameStep", "measured": "full"}
    env = PluriverseVectorEnv(PONG, num_envs=2, remotes="local:2", **options)
    try:
        _, before = env.reset()
        daemon_at(env.core.env.addresses[0]).kill()
        while True:
            observations, _, terminations, truncations, infos = env.step(np.array([0, 1]))
            assert observations in env.observation_space
            assert not terminations.any()
            assert not truncations[1]
            if truncations[0]:
                break
        assert infos["final_info"]["lost"][0]
        assert infos["final_info"]["error"][0]
        assert not infos["lost"][1]
        # The next step waits until the first one is back, if this one hasn't.
        _, rewards, terminations, truncations, infos = env.step(np.array([0, 1]))
        assert not (terminations | truncations).any()
        assert not infos["lost"].any()
        assert rewards[0] == 0
        assert infos["env_status.episode_id"][1] == before["env_status.episode_id"][1]
    finally:
        env.close()
