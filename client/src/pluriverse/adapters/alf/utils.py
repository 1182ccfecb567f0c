"""``create_environment``: a batch of environments by name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Final

import numpy as np

from pluriverse.errors import ConfigurationError

from . import suite_gym
from .alf_environment import AlfEnvironment
from .alf_wrappers import TensorWrapper
from .parallel_environment import ParallelAlfEnvironment
from .suite_gym import AlfWrapper
from .thread_environment import ThreadEnvironment

# Drawn seeds leave room for those that follow, in what simulators take for one.
DRAWN_SEEDS: Final = 2**30

LoadFunction = Callable[..., AlfEnvironment]


def create_environment(
    env_name: str = "CartPole-v1",
    env_load_fn: LoadFunction = suite_gym.load,
    num_parallel_environments: int = 30,
    nonparallel: bool = False,
    start_serially: bool = True,
    blocking: bool = False,
    num_spare_envs: int = 0,
    seed: int | None = None,
    parallel_environment_ctor: Callable[..., AlfEnvironment] = ParallelAlfEnvironment,
    batched_wrappers: Iterable[AlfWrapper] = (),
) -> AlfEnvironment:
    """Return a batched environment, which takes and returns tensors.

    Args:
        env_name: what ``env_load_fn`` knows it as.
        env_load_fn: called as ``env_load_fn(env_name, env_id)`` in a process for each environment. One that has the
            attribute ``batched``, as ``suite_pluriverse.load``, is called once, here, as
            ``env_load_fn(env_name, batch_size=num_parallel_environments)``, and there are no processes.
        num_parallel_environments: size of the batch.
        nonparallel: whether to run one environment in a thread of this process.
        start_serially: whether one process is started after the other.
        blocking: whether one acts after the other.
        num_spare_envs: how many more there are to hide resets.
        seed: environment ``i`` gets ``seed + i``; None: a random one, and none for a ``batched`` one.
        parallel_environment_ctor: makes one of several.
        batched_wrappers: wrappers of the batch, the innermost first.

    Raises:
        ConfigurationError: the numbers don't go together, or what is asked for can't be had.
    """
    if num_parallel_environments < 1:
        raise ConfigurationError(f"num_parallel_environments is {num_parallel_environments}; expected 1 or more")
    if nonparallel and num_parallel_environments != 1:
        raise ConfigurationError(
            f"nonparallel is one environment, and num_parallel_environments is {num_parallel_environments}; expected 1"
        )
    drawn = int(np.random.default_rng().integers(DRAWN_SEEDS)) if seed is None else seed
    if _is_batched(env_load_fn):
        if num_spare_envs or blocking or nonparallel:
            raise ConfigurationError(
                f"{env_load_fn!r} makes one batched environment, which has no processes; num_spare_envs, blocking and "
                "nonparallel aren't for those"
            )
        env = env_load_fn(env_name, batch_size=num_parallel_environments)
        env = env if env.is_tensor_based else TensorWrapper(env)
        # Remotes that aren't seeded go on by themselves, which is faster, and no two are alike anyway.
        if seed is not None:
            env.seed(seed)
    elif nonparallel:
        if num_spare_envs or blocking:
            raise ConfigurationError("num_spare_envs and blocking are for processes, and nonparallel has none")
        env = ThreadEnvironment(functools.partial(env_load_fn, env_name))
        env.seed(drawn)
    else:
        env = parallel_environment_ctor(
            [functools.partial(_construct, env_load_fn, env_name)] * (num_parallel_environments + num_spare_envs),
            start_serially=start_serially,
            blocking=blocking,
            num_spare_envs_for_reload=num_spare_envs,
            seed=drawn,
        )
    for wrapper in batched_wrappers:
        env = wrapper(env)
    return env


def _construct(env_load_fn: LoadFunction, env_name: str, env_id: int) -> AlfEnvironment:
    return env_load_fn(env_name, env_id)


def _is_batched(env_load_fn: LoadFunction) -> bool:
    while isinstance(env_load_fn, functools.partial):
        env_load_fn = env_load_fn.func
    return getattr(env_load_fn, "batched", False)
