"""Stable-Baselines3: its check, its Atari wrappers, its vectors, and agents that learn."""

import contextlib
from typing import Any, Final

import gymnasium
import numpy as np
import pluriverse.adapters.gymnasium
import pytest
from support.later import Later, needs

sb3: Any = Later("stable_baselines3")
common: Any = Later("stable_baselines3.common.env_util")

gymnasium.register_envs(pluriverse.adapters.gymnasium)

# An environment's older versions are offered on purpose.
pytestmark = [
    pytest.mark.slow,
    needs("stable_baselines3"),
    pytest.mark.display,
    pytest.mark.filterwarnings(
        "ignore:.*is out of date:DeprecationWarning",
        "ignore::DeprecationWarning:torch.*",
        "ignore::UserWarning:torch.*",
    ),
]

BREAKOUT: Final = "pluriverse/gym-core.BreakoutNoFrameskip-v3"
CART_POLE: Final = "pluriverse/gym-core.CartPole-v0"
# As processes need it that import nothing of ours.
NAMED: Final = f"pluriverse:{CART_POLE}"
SMALL: Final[dict[str, Any]] = {"size": (36, 36), "grey": True}


@pytest.mark.parametrize(
    ("env_id", "options"),
    [
        ("gym-core.PongDeterministic-v3", {}),
        ("gym-core.CartPoleLowD-v0", SMALL),
        ("gym-core.FrozenLake-v1", {"actions": "keys"}),
    ],
)
def test_family_passes_the_check(env_id: str, options: dict[str, Any], address: str) -> None:
    made = gymnasium.make(f"pluriverse/{env_id}", remotes=address, render_mode="rgb_array", **options)
    with contextlib.closing(made) as env:
        # Its check of rendering closes the environment and then plays on, which ours refuses.
        Later("stable_baselines3.common.env_checker").check_env(env, skip_render_check=True)
        assert env.render() is not None


def test_atari_wrappers_run_unchanged(address: str) -> None:
    # Up to 30 steps of nothing, a frame of four, an end with each life, fire at the beginning, small grey pictures.
    made = common.make_atari_env(BREAKOUT, n_envs=1, seed=1, env_kwargs={"remotes": address})
    with contextlib.closing(made) as envs:
        assert envs.observation_space.shape == (84, 84, 1)
        envs.reset()
        ends = plays(envs, 150)
        # Nobody moves the paddle, so that each ball is lost, and the wrapper ends an episode with it.
        assert ends
        assert ends[0]["lives"] == 4


def plays(envs: Any, steps: int) -> list[dict[str, Any]]:
    """Step with action 0, or fire; return the infos of the ends of episodes."""
    ends: list[dict[str, Any]] = []
    for step in range(steps):
        _, _, dones, infos = envs.step(np.full(envs.num_envs, step % 2))
        ends += [info for info, done in zip(infos, dones, strict=True) if done]
    return ends


def test_environments_that_are_made_in_processes_are_a_vector() -> None:
    kind = Later("stable_baselines3.common.vec_env").SubprocVecEnv
    made = common.make_vec_env(NAMED, 2, env_kwargs={"remotes": "local:1", **SMALL}, vec_env_cls=kind)
    with contextlib.closing(made) as envs:
        assert envs.reset().shape == (2, 36, 36, 1)
        ends = plays(envs, 100)
        assert ends
        assert all(end["terminal_observation"].shape == (36, 36, 1) for end in ends)
        assert {end["TimeLimit.truncated"] for end in ends} == {False}


def test_ppo_learns_from_small_grey_pictures(address: str) -> None:
    """For a few hundred steps; the policy must be another one then, and episodes must have ended."""
    with contextlib.closing(gymnasium.make(CART_POLE, remotes=address, **SMALL)) as env:
        model = sb3.PPO("CnnPolicy", env, seed=1, device="cpu", n_steps=64, batch_size=32, n_epochs=1)
        before = [parameter.clone() for parameter in model.policy.parameters()]
        model.learn(256)
        assert model.num_timesteps >= 256
        assert any((old != new).any() for old, new in zip(before, model.policy.parameters(), strict=True))
        # Episodes ended, were counted, and followed each other by themselves.
        assert model.ep_info_buffer
