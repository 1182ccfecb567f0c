"""Gymnasium's and minigrid's environments as the runtime plays them."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gym_core import tables
from gym_core.catalogue import Gymnasium
from gym_core.controls import LEFT, RIGHT, UP
from gym_core.gymnasium_env import MAX_HEIGHT, MAX_WIDTH, GymnasiumEnvironment, fitted
from support.nightly import nightly_but

ALL = [*tables.REAL_TIME, *tables.TOY_TEXT, "CartPole-v0", "MiniGrid-MultiRoom-N6-v0"]
EACH_DAY = {"Acrobot-v1", "FrozenLake-v1", "MiniGrid-MultiRoom-N6-v0"}


@pytest.mark.parametrize("id_", nightly_but(EACH_DAY, ALL))
def test_an_environment_steps_and_draws_within_its_room(id_: str) -> None:
    environment = GymnasiumEnvironment(Gymnasium(id_))
    environment.reset(2**62)
    keys = environment.turn_keys
    environment.step(frozenset({UP, LEFT}) if keys is None else frozenset({min(keys)}))
    width, height = environment.size
    assert width <= MAX_WIDTH
    assert height <= MAX_HEIGHT
    picture = np.zeros((height, width, 4), np.uint8)
    environment.draw(picture, 0, height)
    assert picture.any()
    assert np.array_equal(environment.rgb(), picture[:, :, 2::-1])
    environment.close()


def test_the_same_seed_gives_what_gymnasium_gives() -> None:
    environment = GymnasiumEnvironment(Gymnasium("CartPole-v0", low_dimensional=True))
    environment.reset(42)
    direct: Any = gymnasium.make("CartPole-v1", render_mode="rgb_array")
    observation, _ = direct.reset(seed=42)
    assert environment.observation() == [float(value) for value in observation]
    for keys, action in ((frozenset({LEFT}), 0), (frozenset({RIGHT}), 1), (frozenset[int](), 1)):
        environment.step(keys)
        observation = direct.step(action)[0]
        assert environment.observation() == [float(value) for value in observation]
    width, height = environment.size
    picture = np.zeros((height, width, 4), np.uint8)
    environment.draw(picture, 0, height)
    assert np.array_equal(picture[:, :, 2::-1], direct.render())
    direct.close()
    environment.close()


def test_a_picture_that_does_not_fit_is_the_mean_of_squares() -> None:
    picture = np.zeros((800, 800, 3), np.uint8)
    picture[::2, ::2] = 200
    small = fitted(picture)
    assert small.shape == (400, 400, 3)
    assert (small == 50).all()
