"""Conformance of an environment to dm_env's interface."""

from __future__ import annotations

from typing import Any, Final, cast

import dm_env
import numpy as np
from dm_env import specs

from pluriverse.adapters.dm_env import DmEnvironment, load
from pluriverse.remotes import RemoteManager

from . import NotConforming, require

STEPS: Final = 30


def check(env_id: str, remotes: int | str | RemoteManager = 1, **options: Any) -> None:
    """Play some steps, and raise ``NotConforming`` if the interface's contract is broken.

    ``options`` are those of ``adapters.dm_env.load``.
    """
    options.setdefault("max_episode_steps", STEPS // 3)
    with load(env_id, remotes, **options) as env:
        rng = np.random.default_rng(0)
        first = env.reset()
        require(first.first(), f"reset() gave a step of type {first.step_type!r}, expected FIRST")
        require(first.reward is None, f"a FIRST step has reward {first.reward!r}, expected None")
        require(first.discount is None, f"a FIRST step has discount {first.discount!r}, expected None")
        _validate("observation", env.observation_spec(), first.observation)
        last, ended = first, 0
        for _ in range(STEPS):
            step = env.step(_sample(env.action_spec(), rng))
            _check_step(env, last, step)
            last, ended = step, ended + step.last()
        require(ended, f"no episode ended within {STEPS} steps, though max_episode_steps was given")


def _check_step(env: DmEnvironment, before: dm_env.TimeStep, step: dm_env.TimeStep) -> None:
    _validate("observation", env.observation_spec(), step.observation)
    if before.last():
        require(step.first(), f"a step of type {step.step_type!r} followed a LAST, expected FIRST")
        return
    require(not step.first(), "a FIRST step came in the middle of an episode")
    _validate("reward", env.reward_spec(), step.reward)
    _validate("discount", env.discount_spec(), step.discount)
    if step.last():
        # A time limit and a lost remote are no outcome.
        expected = 1.0 if not env.last_info.get("terminated") else 0.0
        require(step.discount == expected, f"an episode ended with discount {step.discount}, expected {expected}")
    else:
        require(step.discount == 1.0, f"a MID step has discount {step.discount}, expected 1")


def _validate(name: str, spec: Any, value: Any) -> None:
    if isinstance(spec, dict):
        parts = cast("dict[str, Any]", spec)
        require(isinstance(value, dict), f"the {name} is {type(value).__name__}, expected a dict of {sorted(parts)}")
        values = cast("dict[str, Any]", value)
        require(values.keys() == parts.keys(), f"the {name} has {sorted(values)}, expected {sorted(parts)}")
        for key, part in parts.items():
            _validate(f"{name} {key!r}", part, values[key])
        return
    try:
        spec.validate(value)
    except ValueError as error:
        raise NotConforming(f"the {name} doesn't fit its spec: {error}") from error


def _sample(spec: Any, rng: np.random.Generator) -> Any:
    if isinstance(spec, dict):
        return {key: _sample(each, rng) for key, each in cast("dict[str, Any]", spec).items()}
    require(isinstance(spec, specs.BoundedArray), f"the action's spec is {spec!r}, expected a BoundedArray")
    bounds = cast("specs.BoundedArray", spec)
    return rng.integers(bounds.minimum, bounds.maximum, bounds.shape, bounds.dtype, endpoint=True)
