"""The observations and actions of an EnvPool as array specs, Gymnasium's spaces and dm_env's specs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

_INT32: Final = (-(2**31), 2**31 - 1)
_FLOAT32: Final = (-float(np.finfo(np.float32).max), float(np.finfo(np.float32).max))
_FLAG: Final = (False, True)


class ArraySpec:
    """One array of an environment, without the batch."""

    def __init__(self, dtype: Any, shape: Sequence[int] = (), bounds: tuple[Any, Any] = _INT32) -> None:
        """``bounds``: the least and the greatest, of all elements or one for each."""
        self.dtype: Any = np.dtype(dtype)
        self.shape: tuple[int, ...] = tuple(shape)
        self.minimum, self.maximum = (np.asarray(each) if np.ndim(each) else each for each in bounds)

    @property
    def choices(self) -> tuple[int, int] | None:
        """The first and the number of the integers that it can be, if that is a single one of a few."""
        few = np.issubdtype(self.dtype, np.integer) and self.shape == () and self.maximum < 2**20
        return (int(self.minimum), int(self.maximum) - int(self.minimum) + 1) if few else None

    def space(self) -> Any:
        """Return Gymnasium's space."""
        if self.choices is not None:
            return spaces.Discrete(self.choices[1], start=self.choices[0])
        return spaces.Box(self.minimum, self.maximum, self.shape, self.dtype)

    def spec(self, name: str) -> Any:
        """Return dm_env's spec, which has the last part of ``name``."""
        name = name.replace(":", ".").rpartition(".")[2]
        if self.choices is not None and self.choices[0] == 0:
            return specs.DiscreteArray(self.choices[1], self.dtype, name)
        return specs.BoundedArray(self.shape, self.dtype, self.minimum, self.maximum, name)


# EnvPool's names of what ``recv`` returns, in its order; then ours.
STATE: Final[Mapping[str, ArraySpec]] = {
    "info:env_id": ArraySpec(np.int32, []),
    "info:players.env_id": ArraySpec(np.int32, []),
    "elapsed_step": ArraySpec(np.int32, []),
    "done": ArraySpec(np.bool_, [], _FLAG),
    "reward": ArraySpec(np.float32, [], _FLOAT32),
    "discount": ArraySpec(np.float32, [], (0.0, 1.0)),
    "step_type": ArraySpec(np.int32, []),
    "trunc": ArraySpec(np.bool_, [], _FLAG),
    "obs": ArraySpec(np.uint8, [], (0, 255)),  # of a shape that follows from the options
    "info:lives": ArraySpec(np.int32, []),
    "info:reward": ArraySpec(np.float32, [], _FLOAT32),
    "info:terminated": ArraySpec(np.int32, [], (0, 1)),
    "info:pluriverse.lost": ArraySpec(np.bool_, [], _FLAG),
}


class EnvSpec:
    """The options, observations and actions of an EnvPool, each for one environment."""

    def __init__(self, config: Config) -> None:
        """Raise ``ConfigurationError`` if an option is wrong; it says which and why."""
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
    def state_array_spec(self) -> dict[str, ArraySpec]:
        """What ``recv`` returns, by EnvPool's names."""
        height, width, channels = self.described[1]
        stack = [self.config.stack_num * channels, height, width]
        return {**STATE, "obs": ArraySpec(np.uint8, stack, (0, 255))}

    @property
    def action_array_spec(self) -> dict[str, ArraySpec]:
        """What ``send`` takes: who acts, and ``action`` or several that begin with ``action.``."""
        actions = self.described[0]
        who = {"env_id": ArraySpec(np.int32, []), "players.env_id": ArraySpec(np.int32, [])}
        keys = ArraySpec(np.int32, [len(actions.keys)], (0, 1))
        match actions.kind:
            case "discrete":
                return {**who, "action": ArraySpec(np.int32, [], (0, actions.n - 1))}
            case "keys":
                return {**who, "action": keys}
            case "pointer":
                _, _, width, height = actions.box
                pointer = ArraySpec(np.int32, [2], ([0, 0], [width - 1, height - 1]))
                parts = {"action.pointer": pointer, "action.buttons": ArraySpec(np.int32, [BUTTONS], (0, 1))}
                return {**who, **parts, **({"action.keys": keys} if actions.keys else {})}
            case "events":
                raise ConfigurationError(
                    "EnvPool's actions are arrays, and lists of events are none; leave actions at 'auto', or 'keys', "
                    "'pointer' or 'discrete', or play this environment with pluriverse.make"
                )

    def observation_spec(self) -> Any:
        """Return dm_env's specs of an observation, a named tuple."""
        return state_tuple({name: spec.spec(name) for name, spec in self.state_array_spec.items()})

    def action_spec(self) -> Any:
        """Return dm_env's spec of an action, or a named tuple of all that ``send`` takes if it has several parts."""
        parts = {name: spec.spec(name) for name, spec in self.action_array_spec.items()}
        return parts["action"] if "action" in parts else as_tuple("Action", nested(parts))

    @property
    def observation_space(self) -> Any:
        """Gymnasium's space of an observation: a Box of uint8."""
        return self.state_array_spec["obs"].space()

    @property
    def action_space(self) -> Any:
        """Gymnasium's space of an action: Discrete, a Box of 0 and 1 for each key, or a Dict."""
        parts = {name: spec.space() for name, spec in self.action_array_spec.items() if name.startswith("action")}
        if "action" in parts:
            return parts["action"]
        action: Any = spaces.Dict(nested(parts)["action"])
        return spaces.Dict({"action": action})
