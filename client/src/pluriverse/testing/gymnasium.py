"""Conformance of an environment to Gymnasium's interface."""

from __future__ import annotations

from typing import Any, Final, cast

import numpy as np
from gymnasium.utils.passive_env_checker import data_shares_objects
from gymnasium.vector import AutoresetMode

from pluriverse.adapters.gymnasium import PluriverseEnv, PluriverseVectorEnv
from pluriverse.errors import ActionError, Closed, ResetNeeded
from pluriverse.remotes import RemoteManager, parse

from . import require, require_error

STEPS: Final = 30
SEED: Final = 123

# No space of ours has it.
_NO_ACTION: Final = object()


def check(
    env_id: str,
    remotes: int | str | RemoteManager = 1,
    *,
    steps: int = STEPS,
    autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
    **options: Any,
) -> None:
    """Play ``steps`` steps at random, and raise ``NotConforming`` if the interface's contract is broken.

    One remote is played as an ``Env`` and as a ``VectorEnv``, more as a ``VectorEnv``; ``options`` are those of both.
    """
    n = parse(remotes, env_id).n if isinstance(remotes, int | str) else remotes.n
    if n == 1 and isinstance(remotes, int | str):
        check_env(PluriverseEnv(env_id, remotes=remotes, render_mode="rgb_array", **options), steps)
    vector = PluriverseVectorEnv(env_id, num_envs=n, remotes=remotes, autoreset_mode=autoreset_mode, **options)
    check_vector(vector, steps)


def check_env(env: PluriverseEnv, steps: int = STEPS) -> None:
    """Check an environment that was made with the render mode ``rgb_array`` and never reset, and close it."""
    try:
        require_error(ResetNeeded, "a step before the first reset", env.step, env.action_space.sample())
        env.action_space.seed(SEED)
        before = env.reset(seed=SEED)
        _is_observed(env, "reset", *before)
        require_error(ActionError, "what is no action", env.step, _NO_ACTION)
        for _ in range(steps):
            observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
            _is_observed(env, "step", observation, info)
            require(type(reward) is float and np.isfinite(reward), f"a reward is a finite float, got {reward!r}")
            for name, flag in (("terminated", terminated), ("truncated", truncated)):
                require(type(flag) is bool, f"{name} is a bool, got {flag!r}")
            require(
                not data_shares_objects(before, (observation, info)), "a step's observation and info are nobody else's"
            )
            before = observation, info
            if terminated or truncated:
                require_error(ResetNeeded, "a step after an episode's end", env.step, env.action_space.sample())
                before = env.reset()
                _is_observed(env, "reset", *before)
        picture = env.render()
        require(
            picture is not None and picture.dtype == np.uint8 and picture.ndim == 3 and picture.shape[2] == 3,
            "render gives a picture in the mode rgb_array, uint8 (height, width, 3)",
        )
    finally:
        env.close()
    env.close()
    require_error(Closed, "a reset after close", env.reset)


def check_vector(env: PluriverseVectorEnv, steps: int = STEPS) -> None:
    """Check a vector that was never reset, and close it."""
    try:
        space = env.action_space
        require_error(ResetNeeded, "a step before the first reset", env.step, space.sample())
        space.seed(SEED)
        observations, infos = env.reset(seed=SEED)
        _is_batch(env, "reset", observations, infos)
        over = np.zeros(env.num_envs, np.bool_)
        for _ in range(steps):
            observations, rewards, terminations, truncations, infos = env.step(space.sample())
            _is_batch(env, "step", observations, infos)
            _has_batch_types(env, rewards, terminations, truncations)
            ended = terminations | truncations
            match env.autoreset_mode:
                case AutoresetMode.NEXT_STEP:
                    require(not (rewards[over].any() or ended[over].any()), "a step that resets earns and ends nothing")
                case AutoresetMode.SAME_STEP:
                    _has_finals(env, ended, infos)
                case AutoresetMode.DISABLED if ended.any():
                    require_error(ResetNeeded, "a step after an episode's end", env.step, space.sample())
                    _is_batch(env, "reset", *env.reset(options={"reset_mask": ended}))
                case AutoresetMode.DISABLED:
                    pass
            over = ended
    finally:
        env.close()
    env.close()
    require_error(Closed, "a reset after close", env.reset)


def _is_observed(env: PluriverseEnv, what: str, observation: Any, info: Any) -> None:
    require(
        observation in env.observation_space,
        f"the observation of {what} is in {env.observation_space}, got {_described(observation)}",
    )
    require(type(info) is dict, f"the info of {what} is a dict, got {info!r:.80}")
    require(np.asarray(info.get("lost")).dtype == np.bool_, f"the info of {what} says whether the remote is lost")
    require(not info["lost"] or info.get("error"), "an info with lost says in error what happened")


def _is_batch(env: PluriverseVectorEnv, what: str, observations: Any, infos: dict[str, Any]) -> None:
    space = env.observation_space
    require(observations in space, f"the observations of {what} are in {space}, got {_described(observations)}")
    for key, values in infos.items():
        mask: Any = values if key.startswith("_") else infos.get(f"_{key}")
        require(
            getattr(mask, "dtype", None) == np.bool_ and mask.shape == (env.num_envs,),
            f"each key of infos has a mask of {env.num_envs} booleans, got {mask!r:.80} for {key!r}",
        )


def _has_batch_types(env: PluriverseVectorEnv, rewards: Any, terminations: Any, truncations: Any) -> None:
    for name, array, dtype in (
        ("rewards", rewards, np.float64),
        ("terminations", terminations, np.bool_),
        ("truncations", truncations, np.bool_),
    ):
        require(
            array.dtype == dtype and array.shape == (env.num_envs,),
            f"{name} are {dtype.__name__} of shape ({env.num_envs},), got {array.dtype} of {array.shape}",
        )


def _has_finals(env: PluriverseVectorEnv, ended: Any, infos: dict[str, Any]) -> None:
    for key in ("final_obs", "final_info"):
        mask = infos.get(f"_{key}", np.zeros(env.num_envs, np.bool_))
        require((mask == ended).all(), f"{key} is there for those that ended, {ended}, got {mask}")
    space = env.single_observation_space
    for index in np.flatnonzero(ended):
        final = infos["final_obs"][index]
        require(final in space, f"final_obs is in {space}, got {_described(final)}")


def _described(observation: Any) -> str:
    """Return dtype and shape of an observation, in a line."""
    if isinstance(observation, dict):
        parts = cast("dict[str, Any]", observation)
        return ", ".join(f"{key}: {_described(value)}" for key, value in parts.items())
    shape, dtype = getattr(observation, "shape", None), getattr(observation, "dtype", None)
    return f"{observation!r:.80}" if shape is None else f"{dtype} of shape {shape}"
