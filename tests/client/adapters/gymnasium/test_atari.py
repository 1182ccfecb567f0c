"""What others' Atari wrappers ask of an environment, unchanged."""

from collections.abc import Generator
from typing import Any

import gymnasium
import numpy as np
import pytest
from ale_py.env import AtariEnv
from gymnasium.wrappers import AtariPreprocessing
from pluriverse.adapters.gymnasium import PluriverseEnv
from pluriverse.adapters.gymnasium.atari import frameskip_of
from pluriverse.errors import Misuse

pytestmark = pytest.mark.display

BREAKOUT = "gym-core.BreakoutNoFrameskip-v3"
CART = "gym-core.CartPole-v0"
LIVES = 5


@pytest.fixture
def breakout(address: str) -> Generator[gymnasium.Env[Any, Any]]:
    env = gymnasium.make(f"pluriverse/{BREAKOUT}", remotes=address)
    yield env
    env.close()


def lose_a_life(env: gymnasium.Env[Any, Any]) -> Any:
    """Serve, and stand still until an episode ends; the last step."""
    for _ in range(2000):
        step = env.step(1)
        if step[2] or step[3]:
            return step
    raise AssertionError("no life was lost")


def test_options_of_the_game_are_given_to_make(address: str) -> None:
    env: Any = gymnasium.make(
        f"pluriverse/{BREAKOUT}", remotes=address, env_options={"full_action_space": True, "difficulty": 1}
    )
    try:
        theirs = AtariEnv("breakout", full_action_space=True)
        assert env.action_space == theirs.action_space
        assert env.unwrapped.get_action_meanings() == theirs.get_action_meanings()
        env.reset()
        assert env.unwrapped.ale.lives() == LIVES
    finally:
        env.close()


def test_frames_in_lockstep_are_those_of_ale_py_with_the_same_seed_and_actions(address: str) -> None:
    theirs = AtariEnv("breakout", frameskip=1, repeat_action_probability=0.0)
    with PluriverseEnv(BREAKOUT, remotes=address, clock="lockstep") as env:
        assert np.array_equal(env.reset(seed=3)[0], theirs.reset(seed=3)[0])
        for step in range(200):
            action = (1, 2, 3, 0)[step % 4]
            observation, reward, *_ = env.step(action)
            expected, expected_reward, *_ = theirs.step(action)
            assert np.array_equal(observation, expected)
            assert reward == expected_reward


def test_actions_of_other_kinds_have_no_names_and_other_environments_no_emulator(address: str) -> None:
    with PluriverseEnv(CART, remotes=address, actions="keys") as env:
        assert not hasattr(env, "ale")
        with pytest.raises(Misuse, match="'keys'"):
            env.get_action_meanings()


def test_emulator_tells_lives_and_the_screen_that_the_agent_sees(breakout: Any) -> None:
    observation, _ = breakout.reset(seed=1)
    ale = breakout.unwrapped.ale
    assert ale.lives() == LIVES
    assert ale.getScreenDims() == (210, 160)
    assert (ale.getScreenRGB() == observation).all()
    assert not np.shares_memory(ale.getScreenRGB(), observation)
    grey = np.zeros((210, 160), np.uint8)
    assert ale.getScreenGrayscale(grey) is None
    assert (grey == ale.getScreenGrayscale()).all()
    assert grey.any()


def test_frames_that_a_game_skips_by_itself_are_not_counted() -> None:
    assert frameskip_of(BREAKOUT, 1) == 1
    assert frameskip_of(BREAKOUT, 4) == 4
    assert frameskip_of("gym-core.Breakout-v3", 1) is None


def test_preprocessing_of_gymnasium_ends_an_episode_with_each_life(breakout: Any) -> None:
    env = AtariPreprocessing(breakout, noop_max=3, terminal_on_life_loss=True)
    observation, _ = env.reset(seed=1)
    assert observation.shape == (84, 84)
    assert observation.any()
    observation, _, terminated, truncated, info = lose_a_life(env)
    assert (terminated, truncated, info["lives"]) == (True, False, LIVES - 1)
    assert observation in env.observation_space
