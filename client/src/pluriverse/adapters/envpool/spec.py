"""The observations and actions of an EnvPool as Gymnasium's spaces and dm_env's specs."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any, Final, cast

import numpy as np
from dm_env import specs
from gymnasium import spaces
from pluriverse_protocol.atari import ACTIONS, MINIMAL_ACTIONS
from pluriverse_protocol.env_spaces import Choice, Spaces

from pluriverse.adapters.actions import ActionMap, Part

from .config import Config

# Its annotations have no integers.
_box: Any = spaces.Box

_INFO: Final = {"env_id": np.int32, "lives": np.int32, "reward": np.float32, "terminated": np.int32, "lost": np.bool_}


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
        if config.is_atari and config.actions in ("auto", "discrete") and config.pictures.size is not None:
            numbers = range(len(ACTIONS)) if config.full_action_space else MINIMAL_ACTIONS[config.task]
            choices = tuple(Choice(ACTIONS[number], ()) for number in numbers)
            picture = (*config.pictures.size, 1 if config.gray_scale else 3)
            return ActionMap(Spaces(discrete=choices), (0, 0, 1, 1)), picture
        alone = config if config.remotes is not None else config._replace(num_envs=1)
        with alone.open() as core:
            return core.actions, core.pictures.shape

    @property
    def observation_space(self) -> Any:
        """Gymnasium's space of an observation: a Box of uint8."""
        height, width, channels = self.described[1]
        return _box(0, 255, (self.config.stack_num * channels, height, width), np.uint8)

    @property
    def action_space(self) -> Any:
        """Gymnasium's space of an action: Discrete, a Box of 0 and 1 for each key, or a Dict."""
        actions = self.described[0]
        if actions.kind == "discrete":
            return spaces.Discrete(actions.n)
        parts = {name: _part(part) for name, part in actions.arrays().items()}
        action: Any = spaces.Dict(parts)
        return spaces.Dict({"action": action}) if len(parts) > 1 else parts["keys"]

    def observation_spec(self) -> Any:
        """Return dm_env's specs of an observation, a named tuple."""
        obs = specs.BoundedArray(self.observation_space.shape, np.uint8, 0, 255, "obs")
        numbers = {name: specs.Array((), dtype, name) for name, dtype in _INFO.items()}
        return as_tuple("State", {"obs": obs, **nested_info(**numbers)})

    def action_spec(self) -> Any:
        """Return dm_env's spec of an action, or a named tuple of all that ``send`` takes if it has several parts."""
        actions = self.described[0]
        if actions.kind == "discrete":
            return specs.DiscreteArray(actions.n, np.int32, "action")
        parts = {
            name: specs.BoundedArray(part.shape, part.kind or np.int32, part.least, part.most, name)
            for name, part in actions.arrays().items()
        }
        env_id = specs.Array((), np.int32, "env_id")
        whole = {"env_id": env_id, "players": {"env_id": env_id}, "action": parts}
        return as_tuple("Action", whole) if len(parts) > 1 else parts["keys"]


def _part(part: Part) -> Any:
    kind = part.kind or np.int32
    return _box(np.full(part.shape, part.least, kind), np.full(part.shape, part.most, kind), dtype=kind)


def nested_info(env_id: Any, lost: Any, **numbers: Any) -> dict[str, Any]:
    """Return EnvPool's info, of arrays or specs, and ours."""
    return {"env_id": env_id, "players": {"env_id": env_id}, **numbers, "pluriverse": {"lost": lost}}


def as_tuple(name: str, nest: Mapping[str, Any]) -> Any:
    """Return a nest of dicts as named tuples."""
    values = (as_tuple(key, cast("Any", each)) if isinstance(each, dict) else each for key, each in nest.items())
    return _tuple_type(name, tuple(nest))(*values)


@cache
def _tuple_type(name: str, fields: tuple[str, ...]) -> Any:
    # Its fields follow from the environment.
    return namedtuple(name, fields)  # pyright: ignore[reportUntypedNamedTuple]
