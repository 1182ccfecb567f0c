"""Conformance of an environment to EnvPool's interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import numpy as np

import pluriverse.adapters.envpool as envpool
from pluriverse.errors import Misuse
from pluriverse.remotes import RemoteManager

from . import require, require_error

# An episode ends after so many steps here, if it hasn't before, and some of them are played.
LIMIT: Final = 4
ROUNDS: Final = 4 * (LIMIT + 2)

_INFO: Final = {
    "env_id": np.int32,
    "lives": np.int32,
    "reward": np.float32,
    "terminated": np.int32,
    "elapsed_step": np.int32,
    "lost": np.bool_,
    "TimeLimit.truncated": np.bool_,
}


def check(env_id: str, remotes: int | str | RemoteManager = 1, **options: Any) -> None:
    """Play some steps, and raise ``NotConforming`` if the interface's contract is broken.

    ``options`` are those of ``adapters.envpool.make``.
    """
    options.setdefault("max_episode_steps", LIMIT)
    env: Any = envpool.make_gymnasium(env_id, remotes=remotes, **options)
    try:
        require_error(Misuse, "recv with nothing sent", env.recv)
        env.async_reset()
        expected = _Expected(env)
        observations, info = env.recv(reset=True)
        nothing = np.zeros(len(observations), np.bool_)
        state = (observations, nothing.astype(np.float32), nothing, nothing, info)
        expected.compare(state)
        for _ in range(ROUNDS):
            indices = state[-1]["env_id"]
            actions = sample(env, len(indices))
            require_error(Misuse, "an environment that is named twice", env.send, actions, np.zeros(2, np.int32))
            require_error(Misuse, "an environment that isn't there", env.send, actions, np.array([len(env)]))
            env.send(actions, indices)
            state = env.recv()
            expected.compare(state)
        require(expected.ended, f"no episode ended within {ROUNDS} steps of at most {options['max_episode_steps']}")
    finally:
        env.close()


def sample(env: Any, n: int) -> Any:
    """Return random actions for ``n`` environments: an array, or a dict of arrays."""
    actions = [env.action_space.sample() for _ in range(n)]
    if not isinstance(actions[0], Mapping):
        return np.array(actions, np.int32)
    parts = cast("list[dict[str, Any]]", [action["action"] for action in actions])
    return {"action": {name: np.array([part[name] for part in parts], np.int32) for name in parts[0]}}


class _Expected:
    """The expected next answer of each environment."""

    def __init__(self, env: Any) -> None:
        self._env = env
        self._elapsed = np.full(len(env), -1)
        self._done = np.ones(len(env), np.bool_)
        self.ended = 0

    def compare(self, state: tuple[Any, ...]) -> None:
        observations, rewards, terminated, truncated, info = state
        size = self._env.config["batch_size"]
        require(len(observations) == size, f"recv gave {len(observations)} environments, expected {size}")
        require(observations.dtype == np.uint8, f"observations are {observations.dtype}, expected uint8")
        require(
            observations.shape[1:] == self._env.observation_space.shape,
            f"an observation is of shape {observations.shape[1:]}, expected {self._env.observation_space.shape}",
        )
        info = {**info, **info["pluriverse"]}
        for name, dtype in _INFO.items():
            require(name in info, f"info has no {name!r}")
            require(info[name].dtype == dtype, f"info[{name!r}] is {info[name].dtype}, expected {dtype.__name__}")
            require(info[name].shape == (size,), f"info[{name!r}] is of shape {info[name].shape}, expected {(size,)}")
        require((info["players"]["env_id"] == info["env_id"]).all(), "players.env_id differs from env_id")
        require(not (terminated & truncated).any(), "an episode was both terminated and truncated")
        for index, reward, done, elapsed in zip(
            info["env_id"].tolist(), rewards, terminated | truncated, info["elapsed_step"], strict=True
        ):
            self._compare_one(index, float(reward), bool(done), int(elapsed))

    def _compare_one(self, index: int, reward: float, done: bool, elapsed: int) -> None:
        if self._done[index]:
            require(reward == 0, f"environment {index} began an episode with reward {reward}, expected 0")
            require(not done, f"environment {index} began an episode with its end")
            goes_on = self._env.config["episodic_life"] and elapsed == self._elapsed[index]
            require(elapsed == 0 or goes_on, f"environment {index} began an episode at step {elapsed}, expected 0")
        else:
            expected = self._elapsed[index] + 1
            require(elapsed == expected, f"environment {index} is at step {elapsed}, expected {expected}")
        self._elapsed[index], self._done[index] = elapsed, done
        self.ended += done
