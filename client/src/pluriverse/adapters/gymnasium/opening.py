"""From what is written in ``gymnasium.make`` to remotes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from pluriverse_protocol.limits import MAX_SEED

from pluriverse import remotes as remotes_module
from pluriverse.adapters.core import Core
from pluriverse.adapters.pictures import PictureOptions
from pluriverse.errors import ConfigurationError, Misuse
from pluriverse.remotes import RemoteManager

# Seeds of episodes that follow a seeded one; as many as any program's random numbers take.
DRAWN_SEEDS = 2**31


def open_core(
    env_id: str | None,
    remotes: int | str | RemoteManager | None,
    n: int,
    *,
    start_timeout_s: float = remotes_module.START_S,
    size: Sequence[int] | None = None,
    grey: bool = False,
    crop: Sequence[int] | None = None,
    **options: Any,
) -> Core:
    """``n`` copies of an environment; blocks until they are there.

    Args:
        env_id: which; None for whatever the remotes play.
        remotes: as ``pluriverse.make`` takes it; there must be ``n``. None: start ``n``.
        n: how many are wanted.
        start_timeout_s: how long a remote may take to start.
        size: (height, width) to resize the pictures to.
        grey: pictures of one channel.
        crop: (x, y, width, height) in pixels of the screen; None: what the environment draws on.
        options: of ``Core`` (``actions``, ``frame_skip``, ``fps``, ``max_episode_steps``), and of
            ``VectorEnv.configure`` (``vnc``, ``replace_on_crash``, ``action_probes`` …).

    Raises:
        ConfigurationError: what is asked for can't be had; says what mends it.
        RemoteUnavailable: a remote could not be started or reached.
    """
    # Lists, where they were read from JSON.
    pictures = PictureOptions(_numbers("crop", crop, 4), _numbers("size", size, 2), grey)
    manager = n if remotes is None else remotes
    if isinstance(manager, int | str):
        manager = remotes_module.parse(manager, env_id, start_timeout_s=start_timeout_s)
    if manager.n != n:
        raise ConfigurationError(
            f"remotes={remotes!r} are {manager.n}, and this is an environment of {n}; say remotes={n}, or make a "
            f"vector of them with gymnasium.make_vec(…, num_envs={manager.n}, remotes={remotes!r})"
        )
    return Core(env_id, manager, pictures=pictures, **options)


def checked_seed(seed: int) -> int:
    """A seed that remotes take.

    Raises:
        Misuse: it is none.
    """
    if not 0 <= seed <= MAX_SEED:
        raise Misuse(f"the seed is {seed!r}; expected an integer of 0 to {MAX_SEED}")
    return int(seed)


def drawn_seed(generator: np.random.Generator | None) -> int | None:
    """The seed of the next episode, where an earlier one was seeded: the whole run follows from that one."""
    return None if generator is None else int(generator.integers(DRAWN_SEEDS))


def generator_of(seed: int) -> np.random.Generator:
    """Random numbers from a seed, as Gymnasium makes them."""
    return seeding.np_random(checked_seed(seed))[0]


def _numbers(name: str, values: Sequence[int] | None, count: int) -> Any:
    if values is None:
        return None
    if len(values) != count:
        raise ConfigurationError(f"{name} is {values!r}; expected {count} numbers")
    return tuple(int(value) for value in values)
