"""``create_environment``: a batch of environments by name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from pluriverse import validation
from pluriverse.errors import ConfigurationError

from . import suite_pluriverse
from .alf_environment import AlfEnvironment
from .parallel_environment import ParallelAlfEnvironment
from .thread_environment import ThreadEnvironment


def create_environment(
    env_name: str = "gym-core.PongDeterministic-v3",
    env_load_fn: Callable[..., AlfEnvironment] = suite_pluriverse.load,
    num_parallel_environments: int = 30,
    nonparallel: bool = False,
    seed: int | None = None,
    batched_wrappers: Iterable[Callable[[AlfEnvironment], AlfEnvironment]] = (),
) -> AlfEnvironment:
    """Return a batched environment, which takes and returns tensors.

    Each is ``env_load_fn(env_name, env_id=…)``, or a ``batched`` function, as ``suite_pluriverse.load``, makes all as
    ``env_load_fn(env_name, batch_size=…)``. ``nonparallel`` is one environment, ``env_load_fn(env_name)``, in a thread.
    Environment ``i`` gets ``seed + i``; ``batched_wrappers`` wrap the batch, the innermost first.
    """
    n = validation.integer("num_parallel_environments", num_parallel_environments, 1)
    seed = None if seed is None else validation.integer("seed", seed, 0)
    batched = _makes_batches(env_load_fn)
    if nonparallel and (n > 1 or batched):
        raise ConfigurationError("nonparallel is one environment; expected num_parallel_environments=1, and no batch")
    if batched:
        env = env_load_fn(env_name, batch_size=n)
    elif nonparallel:
        env = ThreadEnvironment(functools.partial(env_load_fn, env_name))
    else:
        env = ParallelAlfEnvironment([functools.partial(env_load_fn, env_name)] * n)
    # Remotes that aren't seeded go on by themselves, which is faster.
    if seed is not None:
        env.seed(seed)
    for wrapper in batched_wrappers:
        env = wrapper(env)
    return env


def _makes_batches(env_load_fn: Any) -> bool:
    while isinstance(env_load_fn, functools.partial):
        env_load_fn = env_load_fn.func
    return getattr(env_load_fn, "batched", False)
