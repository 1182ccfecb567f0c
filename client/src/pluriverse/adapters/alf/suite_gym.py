"""Environments of Gymnasium's with the wrappers that ALF's agents expect."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from . import nest
from .alf_environment import AlfEnvironment
from .alf_gym_wrapper import AlfGymWrapper, import_gymnasium
from .alf_wrappers import ContinuousActionClip, NormalizedActionWrapper, TimeLimit
from .data_structures import GOES_ON

if TYPE_CHECKING:
    import gymnasium

# Gymnasium's for no time limit.
_NO_LIMIT: Final = -1

AlfWrapper = Callable[[AlfEnvironment], AlfEnvironment]
GymWrapper = Callable[["gymnasium.Env[Any, Any]"], "gymnasium.Env[Any, Any]"]


def load(
    environment_name: str,
    env_id: int | None = None,
    discount: float = GOES_ON,
    max_episode_steps: int | None = None,
    gym_env_wrappers: Iterable[GymWrapper] = (),
    alf_env_wrappers: Iterable[AlfWrapper] = (),
    image_channel_first: bool = True,
    **options: Any,
) -> AlfEnvironment:
    """Make an environment of Gymnasium's by its registered name.

    ``max_episode_steps`` None is the time limit that it is registered with, 0 none; ``options`` are those of
    ``gymnasium.make``, and the rest is as in ``wrap_env``.
    """
    gymnasium = import_gymnasium()
    gym_env = gymnasium.make(environment_name, max_episode_steps=_NO_LIMIT, **options)
    # Registered for sure only now: a name may begin with the module that does it, as "module:name".
    registered = gymnasium.spec(environment_name.rpartition(":")[2]).max_episode_steps or 0
    steps = registered if max_episode_steps is None else max_episode_steps
    wrap = partial(wrap_env, alf_env_wrappers=alf_env_wrappers, image_channel_first=image_channel_first)
    return wrap(gym_env, env_id, discount, steps, gym_env_wrappers)


def wrap_env(
    gym_env: gymnasium.Env[Any, Any],
    env_id: int | None = None,
    discount: float = GOES_ON,
    max_episode_steps: int = 0,
    gym_env_wrappers: Iterable[GymWrapper] = (),
    time_limit_wrapper: Callable[[AlfEnvironment, int], AlfEnvironment] = TimeLimit,
    normalize_action: bool = True,
    clip_action: bool = True,
    alf_env_wrappers: Iterable[AlfWrapper] = (),
    image_channel_first: bool = True,
    auto_reset: bool = True,
) -> AlfEnvironment:
    """Wrap an environment of Gymnasium's; wrappers come with the innermost first.

    ``discount``, above 0 and at most 1, is of steps after which an episode could go on; ``max_episode_steps`` 0 is no
    limit but its own. Continuous actions are -1 to 1 if ``normalize_action``; those beyond their bounds are clipped if
    ``clip_action``, else refused. Arrays of three dimensions are (channels, height, width) if ``image_channel_first``.
    Unless ``auto_reset`` the step after an episode's last is refused.
    """
    # What wraps Gymnasium's environments loads Gymnasium.
    from .gym_wrappers import ImageChannelFirst

    for gym_wrapper in (*gym_env_wrappers, ImageChannelFirst) if image_channel_first else gym_env_wrappers:
        gym_env = gym_wrapper(gym_env)
    env: AlfEnvironment = AlfGymWrapper(gym_env, env_id, discount, auto_reset)
    if any(spec.is_continuous for spec in nest.flatten(env.action_spec())):
        env = NormalizedActionWrapper(env) if normalize_action else env
        env = ContinuousActionClip(env) if clip_action else env
    env = time_limit_wrapper(env, max_episode_steps) if max_episode_steps > 0 else env
    for wrapper in alf_env_wrappers:
        env = wrapper(env)
    return env
