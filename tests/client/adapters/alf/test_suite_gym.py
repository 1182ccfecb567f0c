"""Gymnasium's environments with ALF's usual wrappers."""

from __future__ import annotations

from functools import partial

import gymnasium
import pytest
from pluriverse.adapters.alf import gym_wrappers, suite_gym
from pluriverse.adapters.alf.alf_wrappers import AtariTerminalOnLifeLossWrapper, FrameStack, RewardClipping, TimeLimit
from pluriverse.adapters.alf.tensor_specs import BoundedTensorSpec
from pluriverse.adapters.alf.texts import decode
from pluriverse.testing.alf import check_environment


def test_registered_time_limit_is_alfs_own() -> None:
    with suite_gym.load("CartPole-v1") as env:
        assert isinstance(env, TimeLimit)
        assert env.duration == 500
        env.seed(0)
        env.reset()


def test_time_limit_can_be_another_or_none() -> None:
    with suite_gym.load("CartPole-v1", max_episode_steps=2) as env:
        steps = [env.step(0) for _ in range(4)]
        assert [int(step.step_type) for step in steps] == [0, 1, 2, 0]
        assert float(steps[2].discount) == 1
    with suite_gym.load("Pendulum-v1", max_episode_steps=0) as env:
        env.reset()
        assert not any(env.step(env.action_spec().numpy_sample()).is_last() for _ in range(250))


def test_continuous_actions_are_normalized_and_clipped() -> None:
    with suite_gym.load("Pendulum-v1", max_episode_steps=20) as env:
        assert env.action_spec() == BoundedTensorSpec((1,), "float32", -1, 1)
        env.reset()
        assert env.step([3.0]).prev_action.tolist() == [1]
        check_environment(env)
    plain = suite_gym.wrap_env(gymnasium.make("Pendulum-v1"), normalize_action=False, clip_action=False)
    assert plain.action_spec().maximum == 2
    plain.close()


def test_wrappers_of_both_kinds_are_applied_from_the_inside_out() -> None:
    double = partial(gymnasium.wrappers.TransformReward, func=lambda reward: 2 * float(reward))
    wrappers = (partial(RewardClipping, maximum=1.5), partial(FrameStack, stack_size=3, channel_order="channels_last"))
    with suite_gym.load("CartPole-v1", 3, 0.5, gym_env_wrappers=[double], alf_env_wrappers=wrappers) as env:
        assert env.observation_spec().shape == (12,)
        env.reset()
        step = env.step(0)
        assert (float(step.reward), float(step.discount), int(step.env_id)) == (1.5, 0.5, 3)


def test_unknown_environment_is_gymnasiums_to_refuse() -> None:
    with pytest.raises(gymnasium.error.Error):
        suite_gym.load("NoSuchGame-v0")


def test_remotes_as_gymnasium_has_them_conform() -> None:
    name = "pluriverse:pluriverse/gym-core.MiniGrid-DoorKey-5x5-v0"
    with suite_gym.load(name, max_episode_steps=10, remotes="local:1") as env:
        assert env.observation_spec()["vision"].shape[0] == 3
        assert "door" in decode(env.reset().observation["text"])
        check_environment(env)


def test_remote_is_played_with_alfs_atari_wrappers() -> None:
    atari = (gym_wrappers.DMAtariPreprocessing, gym_wrappers.FrameStack)
    lives = (AtariTerminalOnLifeLossWrapper,)
    name = "pluriverse/gym-core.BreakoutNoFrameskip-v3"
    with suite_gym.load(name, gym_env_wrappers=atari, alf_env_wrappers=lives, remotes="local:1") as env:
        assert env.observation_spec() == BoundedTensorSpec((4, 84, 84), "uint8", 0, 255)
        env.reset()
        # FIRE was pressed, and nobody plays.
        step = env.step(0)
        while step.discount == 1:
            step = env.step(0)
        assert step.is_mid()
        assert step.env_info["lives"] == 4
