"""``create_environment``: a batch of environments by name."""

from __future__ import annotations

import functools
import inspect
import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np

from pluriverse import validation

from . import suite_gym
from .alf_environment import AlfEnvironment
from .alf_wrappers import BatchedTensorWrapper, BatchEnvironmentWrapper, MultitaskWrapper, TensorWrapper
from .fast_parallel_environment import FastParallelEnvironment
from .suite_gym import AlfWrapper
from .tensors import Refused
from .thread_environment import ThreadEnvironment

# Drawn seeds leave room for those that follow, in what simulators take for one.
DRAWN_SEEDS: Final = 2**30

LoadFunction = Callable[..., AlfEnvironment]


def create_environment(
    env_name: str | Sequence[str] = "CartPole-v1",
    env_load_fn: LoadFunction = suite_gym.load,
    eval_env_load_fn: LoadFunction | None = None,
    for_evaluation: bool = False,
    num_parallel_environments: int = 30,
    batch_size_per_env: int | None = None,
    eval_batch_size_per_env: int | None = None,
    nonparallel: bool = False,
    flatten: bool = True,
    start_serially: bool = True,
    num_spare_envs: int = 0,
    torch_num_threads_per_env: int | None = 1,
    parallel_environment_ctor: LoadFunction = FastParallelEnvironment,
    seed: int | None = None,
    batched_wrappers: Iterable[AlfWrapper] = (),
    blocking: bool = False,
) -> AlfEnvironment:
    """Return a batched environment, which takes and returns tensors.

    Each process makes ``env_load_fn(env_name, env_id)``, or a batch of ``batch_size_per_env`` of them;
    ``num_parallel_environments`` is handed on if it takes that, and several names make a ``MultitaskWrapper``. One that
    has the attribute ``batched``, as ``suite_pluriverse.load``, makes the batch itself, with ``batch_size=…``: of all,
    without a process, or ``batch_size_per_env`` in each. What begins with ``eval`` takes the place of its like if
    ``for_evaluation``. ``nonparallel`` is one environment in a thread of this process; or in this thread, if
    ``env_load_fn`` has the attribute ``no_thread_env``.

    Process ``i`` gets ``seed + i``; None: a random one, and none for a ``batched`` one. ``batched_wrappers`` wrap the
    batch, the innermost first; the rest is as in ``ParallelAlfEnvironment``. Raise ``Refused`` if the numbers don't go
    together, or what is asked for can't be had.
    """
    if for_evaluation:
        env_load_fn = eval_env_load_fn or env_load_fn
        batch_size_per_env = eval_batch_size_per_env or batch_size_per_env
    num_parallel_environments = validation.integer("num_parallel_environments", num_parallel_environments, 1)
    batched = _has(env_load_fn, "batched")
    each = batch_size_per_env or (num_parallel_environments if batched else 1)
    in_process = not nonparallel and not (batched and each == num_parallel_environments)
    if each < 1 or num_parallel_environments % each:
        raise Refused(f"{num_parallel_environments} environments can't be {each} in each process; expected 1 or more")
    if nonparallel and (num_parallel_environments != 1 or batched):
        raise Refused(f"nonparallel is one environment, not a batch, and {num_parallel_environments} are wanted")
    if (num_spare_envs and (each > 1 or not in_process)) or (blocking and not in_process):
        raise Refused("num_spare_envs and blocking are for processes with one environment each, and there are none")
    no_thread = _has(env_load_fn, "no_thread_env")
    if "num_parallel_environments" in inspect.signature(env_load_fn).parameters:
        env_load_fn = functools.partial(env_load_fn, num_parallel_environments=num_parallel_environments)
    if not isinstance(env_name, str):
        env_load_fn = functools.partial(MultitaskWrapper.load, env_load_fn)
    drawn = int(np.random.default_rng().integers(DRAWN_SEEDS)) if seed is None else validation.integer("seed", seed, 0)
    if in_process:
        construct = functools.partial(_construct, env_load_fn, env_name, each, batched)
        env = parallel_environment_ctor(
            [construct] * (num_parallel_environments // each + num_spare_envs),
            start_serially=start_serially,
            blocking=blocking,
            flatten=flatten,
            num_spare_envs_for_reload=num_spare_envs,
            torch_num_threads_per_env=torch_num_threads_per_env,
            seed=drawn,
        )
    elif batched:
        env = env_load_fn(env_name, batch_size=num_parallel_environments)
        env = env if env.is_tensor_based else TensorWrapper(env)
        # Remotes that aren't seeded go on by themselves, which is faster, and no two are alike anyway.
        if seed is not None:
            env.seed(seed)
    else:
        load = functools.partial(env_load_fn, env_name)
        env = BatchedTensorWrapper(load()) if no_thread else ThreadEnvironment(load)
        env.seed(drawn)
    for wrapper in batched_wrappers:
        env = wrapper(env)
    return env


def _construct(env_load_fn: LoadFunction, env_name: Any, each: int, batched: bool, env_id: int) -> AlfEnvironment:
    if batched:
        return env_load_fn(env_name, env_id=env_id, batch_size=each)
    if each == 1:
        return env_load_fn(env_name, env_id)
    return BatchEnvironmentWrapper([env_load_fn(env_name, env_id * each + index) for index in range(each)])


def load_with_random_max_episode_steps(
    env_name: str, env_load_fn: LoadFunction = suite_gym.load, min_steps: int = 200, max_steps: int = 250
) -> AlfEnvironment:
    """Return an environment whose time limit is drawn, by Python's generator."""
    return env_load_fn(env_name, max_episode_steps=random.randint(min_steps, max_steps))  # noqa: S311


def _has(env_load_fn: LoadFunction, attribute: str) -> bool:
    while isinstance(env_load_fn, functools.partial):
        env_load_fn = env_load_fn.func
    return getattr(env_load_fn, attribute, False)
