"""The observations and actions of an EnvPool as Gymnasium's spaces and dm_env's specs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

import numpy as np
from dm_env import specs
from gymnasium import spaces
from pluriverse_protocol.atari import ACTIONS, MINIMAL_ACTIONS
from pluriverse_protocol.env_spaces import Choice, Spaces

from pluriverse.adapters.actions import BUTTONS, ActionMap
from pluriverse.errors import ConfigurationError

from .arrays import as_tuple, nested, state_tuple
from .config import Config

# Its annotations have no np.bool_.
_box: Final[Any] = spaces.Box

_FLOAT32: Final = float(np.finfo(np.float32).max)
_INTEGER: Final = _box(-(2**31), 2**31 - 1, (), np.int32)
_FLOAT: Final = _box(-_FLOAT32, _FLOAT32, (), np.float32)
_FLAG: Final = _box(0, 1, (), np.bool_)

# EnvPool's names of what ``recv`` returns, in its order; then ours. Each for one environment.
STATE: Final[Mapping[str, Any]] = {
    "info:env_id": _INTEGER,
    "info:players.env_id": _INTEGER,
    "elapsed_step": _INTEGER,
    "done": _FLAG,
    "reward": _FLOAT,
    "discount": _box(0, 1, (), np.float32),
    "step_type": _INTEGER,
    "trunc": _FLAG,
    "obs": _box(0, 255, (), np.uint8),  # of a shape that follows from the options
    "info:lives": _INTEGER,
    "info:reward": _FLOAT,
    "info:terminated": _box(0, 1, (), np.int32),
    "info:pluriverse.lost": _FLAG,
}


class EnvSpec:
    """The options, observations and actions of an EnvPool, each for one environment."""

    def __init__(self, config: Config) -> None:
        """Raise ``ConfigurationError``, with the reason, if an option is wrong."""
        self.config: Config = config.checked()

    @cached_property
    def described(self) -> tuple[ActionMap, tuple[int, int, int]]:
        """The actions, and the shape of a picture: (height, width, channels).

        They are known of Atari games; of others a remote is asked, unless an EnvPool was made with this spec.
        """
        config = self.config
        if config.is_atari and config.actions in ("auto", "discrete") and config.img_height and config.img_width:
            numbers = range(len(ACTIONS)) if config.full_action_space else MINIMAL_ACTIONS[config.task]
            choices = tuple(Choice(ACTIONS[number], ()) for number in numbers)
            picture = (config.img_height, config.img_width, 1 if config.gray_scale else 3)
            return ActionMap(Spaces(discrete=choices), (0, 0, 1, 1)), picture
        alone = config if config.remotes is not None else config._replace(num_envs=1)
        with alone.open() as core:
            return core.actions, core.pictures.shape

    @property
    def parts(self) -> dict[str, Any]:
        """The spaces of what an action is made of: ``action``, or several that begin with ``action.``."""
        actions = self.described[0]
        keys = _box(0, 1, (len(actions.keys),), np.int32)
        match actions.kind:
            case "discrete":
                return {"action": spaces.Discrete(actions.n)}
            case "keys":
                return {"action": keys}
            case "pointer":
                _, _, width, height = actions.box
                last = np.array([width - 1, height - 1], np.int32)
                pointer = _box(np.zeros_like(last), last, (2,), np.int32)
                parts = {"action.pointer": pointer, "action.buttons": _box(0, 1, (BUTTONS,), np.int32)}
                return {**parts, "action.keys": keys} if actions.keys else parts
            case "events":
                raise ConfigurationError(
                    "EnvPool's actions are arrays, not lists of events; leave actions at 'auto', or 'keys', "
                    "'pointer' or 'discrete', or play this environment with pluriverse.make"
                )

    @property
    def observation_space(self) -> Any:
        """Gymnasium's space of an observation: a Box of uint8."""
        height, width, channels = self.described[1]
        return _box(0, 255, (self.config.stack_num * channels, height, width), np.uint8)

    @property
    def action_space(self) -> Any:
        """Gymnasium's space of an action: Discrete, a Box of 0 and 1 for each key, or a Dict."""
        parts = self.parts
        if "action" in parts:
            return parts["action"]
        action: Any = spaces.Dict(nested(parts)["action"])
        return spaces.Dict({"action": action})

    def observation_spec(self) -> Any:
        """Return dm_env's specs of an observation, a named tuple."""
        state = {**STATE, "obs": self.observation_space}
        return state_tuple({name: _spec(name, space) for name, space in state.items()})

    def action_spec(self) -> Any:
        """Return dm_env's spec of an action, or a named tuple of all that ``send`` takes if it has several parts."""
        who = {"env_id": _INTEGER, "players.env_id": _INTEGER}
        parts = {name: _spec(name, space) for name, space in {**who, **self.parts}.items()}
        return parts["action"] if "action" in parts else as_tuple("Action", nested(parts))


def _spec(name: str, space: Any) -> Any:
    """Return dm_env's spec of a space, by the last part of its name."""
    name = name.replace(":", ".").rpartition(".")[2]
    if hasattr(space, "n"):
        return specs.DiscreteArray(int(space.n), np.int32, name)
    return specs.BoundedArray(space.shape, space.dtype, space.low, space.high, name)
