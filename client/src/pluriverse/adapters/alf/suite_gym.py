"""Environments of Gymnasium's, wrapped as ALF wraps them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from .alf_environment import AlfEnvironment
from .alf_gym_wrapper import AlfGymWrapper, import_gymnasium
from .alf_wrappers import ContinuousActionClip, NormalizedAction, TimeLimit
from .data_structures import GOES_ON
from .tensor_specs import BoundedTensorSpec

# What Gymnasium takes for: without a time limit.
_NO_LIMIT: Final = -1


def load(
    environment_name: str,
    env_id: int | None = None,
    discount: float = GOES_ON,
    max_episode_steps: int | None = None,
    gym_env_wrappers: Iterable[Callable[[Any], Any]] = (),
    alf_env_wrappers: Iterable[Callable[[AlfEnvironment], AlfEnvironment]] = (),
    image_channel_first: bool = True,
    **options: Any,
) -> AlfEnvironment:
    """Make an environment of Gymnasium's by name.

    Args:
        environment_name: what it is registered as.
        env_id: its index where there are several.
        discount: of steps after which an episode could go on.
        max_episode_steps: a time limit; None: the one it is registered with; 0: none.
        gym_env_wrappers: wrappers of Gymnasium's, the innermost first.
        alf_env_wrappers: wrappers of ALF's, the innermost first.
        image_channel_first: whether arrays of three dimensions come as (channels, height, width).
        options: of ``gymnasium.make``.
    """
    gymnasium = import_gymnasium()
    gym_env = gymnasium.make(environment_name, max_episode_steps=_NO_LIMIT, **options)
    # Only now is it known for sure: a name may begin with the module that registers it, as "module:name".
    registered = gymnasium.spec(environment_name.rpartition(":")[2]).max_episode_steps or 0
    return wrap_env(
        gym_env,
        env_id=env_id,
        discount=discount,
        max_episode_steps=registered if max_episode_steps is None else max_episode_steps,
        gym_env_wrappers=gym_env_wrappers,
        alf_env_wrappers=alf_env_wrappers,
        image_channel_first=image_channel_first,
    )


def wrap_env(
    gym_env: Any,
    env_id: int | None = None,
    discount: float = GOES_ON,
    max_episode_steps: int = 0,
    gym_env_wrappers: Iterable[Callable[[Any], Any]] = (),
    time_limit_wrapper: Callable[[AlfEnvironment, int], AlfEnvironment] = TimeLimit,
    normalize_action: bool = True,
    clip_action: bool = True,
    alf_env_wrappers: Iterable[Callable[[AlfEnvironment], AlfEnvironment]] = (),
    image_channel_first: bool = True,
    auto_reset: bool = True,
) -> AlfEnvironment:
    """An environment of Gymnasium's with the wrappers that agents expect.

    Args:
        gym_env: a ``gymnasium.Env``.
        env_id: its index where there are several.
        discount: of steps after which an episode could go on.
        max_episode_steps: a time limit; 0: none but its own.
        gym_env_wrappers: wrappers of Gymnasium's, the innermost first.
        time_limit_wrapper: called with the environment and ``max_episode_steps``.
        normalize_action: whether continuous actions are -1 to 1.
        clip_action: whether continuous actions beyond their bounds are clipped; else they are refused.
        alf_env_wrappers: wrappers of ALF's, the innermost first.
        image_channel_first: whether arrays of three dimensions come as (channels, height, width).
        auto_reset: whether the step after an episode's last begins the next.
    """
    for gym_wrapper in gym_env_wrappers:
        gym_env = gym_wrapper(gym_env)
    env: AlfEnvironment = AlfGymWrapper(
        gym_env, env_id, discount, auto_reset=auto_reset, image_channel_first=image_channel_first
    )
    spec = env.action_spec()
    if isinstance(spec, BoundedTensorSpec) and spec.is_continuous:
        if normalize_action:
            env = NormalizedAction(env)
        if clip_action:
            env = ContinuousActionClip(env)
    if max_episode_steps > 0:
        env = time_limit_wrapper(env, max_episode_steps)
    for wrapper in alf_env_wrappers:
        env = wrapper(env)
    return env
