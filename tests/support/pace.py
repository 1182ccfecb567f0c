"""How fast an environment steps through each interface, for an agent that does nothing and thinks for no time."""

from __future__ import annotations

import math
import time
import urllib.request
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np
import pluriverse.adapters.alf as alf
import pluriverse.adapters.dm_env as dm_env
import pluriverse.adapters.envpool as envpool
from pluriverse.adapters.alf.tensor_specs import BoundedTensorSpec
from pluriverse.adapters.alf.tensors import tree
from pluriverse.adapters.gymnasium import PluriverseEnv
from pluriverse.testing.envpool import sample
from support.remotes import MachineRemote, find

# So far a rate may be off.
TOLERANCE = 0.01

LEAST_S = 3.0
DEADLINE_S = 60.0

# Plays one step, and says whether it belongs to the episode of the last one.
Step = Callable[[], bool]


def check_pace(interface: str, env_id: str, remote: MachineRemote, rate: float, **options: Any) -> None:
    """Step for ``LEAST_S``, and until a second had no late frame, as on a loaded machine not each has; never faster.

    A program for which the machine has no time at all must have reported the frames that are missing.
    """
    address = remote.address
    env, step = OPENERS[interface](env_id, remotes=address, **options)
    second = round(rate)
    steps, elapsed, best = 0, 0.0, math.inf
    ended_at: list[float] = []
    deadline = time.monotonic() + DEADLINE_S
    late = late_frames(remote)
    try:
        while elapsed < LEAST_S or (best > second / rate * (1 + TOLERANCE) and time.monotonic() < deadline):
            if not step():
                # It waited for the next episode.
                ended_at.clear()
            ended_at.append(time.monotonic())
            if len(ended_at) > 1:
                steps, elapsed = steps + 1, elapsed + ended_at[-1] - ended_at[-2]
            if len(ended_at) > second:
                best = min(best, ended_at[-1] - ended_at[-1 - second])
    finally:
        env.close()
    late = late_frames(remote) - late
    told = f"{steps / elapsed:.1f} steps a second, {second / best:.1f} at best, for {rate:g}; {late:g} late frames"
    # The first may have been late by half a frame, and the last early.
    assert (steps - 1) / elapsed <= rate * (1 + TOLERANCE), told
    assert best <= second / rate * (1 + TOLERANCE) or (steps + late + 1) / elapsed >= rate * (1 - TOLERANCE), told


def late_frames(remote: MachineRemote) -> float:
    """How many frames the remote's program has dropped since it began."""
    with urllib.request.urlopen(f"http://127.0.0.1:{remote.port}/metrics") as metrics:
        return float(find(r"(?m)^pluriverse_late_frames_total (\S+)", metrics.read().decode()))


def open_gymnasium(env_id: str, **options: Any) -> tuple[Any, Step]:
    env: Any = PluriverseEnv(env_id, **options)
    env.reset()

    def step() -> bool:
        _, _, terminated, truncated, _ = env.step(nothing(env.action_space.sample()))
        if terminated or truncated:
            env.reset()
        return not (terminated or truncated)

    return env, step


def open_dm_env(env_id: str, **options: Any) -> tuple[Any, Step]:
    env: Any = dm_env.load(env_id, **options)
    spec: Any = env.action_spec()
    parts = cast("dict[str, Any]", spec) if isinstance(spec, dict) else {}
    action = {name: part.generate_value() for name, part in parts.items()} if parts else 0
    env.reset()
    return env, lambda: not env.step(nothing(action)).first()


def open_envpool(env_id: str, **options: Any) -> tuple[Any, Step]:
    env: Any = envpool.make_gymnasium(env_id, num_envs=1, **options)
    env.reset()
    return env, lambda: env.step(nothing(sample(env, 1)))[-1]["elapsed_step"][0] > 0


def open_alf(env_id: str, **options: Any) -> tuple[Any, Step]:
    env: Any = alf.load(env_id, **options)
    rng = np.random.default_rng(0)
    env.reset()
    action = tree.map_structure(
        partial(BoundedTensorSpec.sample, outer_dims=(env.batch_size,), rng=rng), env.action_spec()
    )
    action = nothing(action)
    return env, lambda: not env.step(action).is_first().any()


OPENERS: dict[str, Callable[..., tuple[Any, Step]]] = {
    "gymnasium": open_gymnasium,
    "dm_env": open_dm_env,
    "envpool": open_envpool,
    "alf": open_alf,
}


def nothing(action: Any) -> Any:
    """An action of the same shape that presses nothing, or whatever has the number 0."""
    if not isinstance(action, dict):
        return action * 0
    return {name: nothing(part) for name, part in cast("dict[str, Any]", action).items()}
