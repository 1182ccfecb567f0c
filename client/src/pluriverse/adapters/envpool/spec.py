"""The observations and actions of an EnvPool as array specs, Gymnasium's spaces and dm_env's specs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from pluriverse.adapters.actions import BUTTONS, ActionMap, Kind
from pluriverse.errors import ConfigurationError, needed

from .config import Config

_INT32: Final = np.iinfo(np.int32)
_FLOAT32: Final = np.finfo(np.float32)

ENV_ID: Final = "env_id"
PLAYERS_ENV_ID: Final = "players.env_id"


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """One array of an environment. A first size of -1 stands for the players, of which there is one."""

    dtype: Any
    shape: tuple[int, ...]
    minimum: Any = _INT32.min
    maximum: Any = _INT32.max

    @property
    def of_one(self) -> tuple[int, ...]:
        """The shape for one environment."""
        return self.shape[1:] if self.shape[:1] == (-1,) else self.shape


class PoolSpec:
    """The options, observations and actions of an EnvPool, each for one environment, without the batch."""

    def __init__(self, config: Config, actions: ActionMap, stack: tuple[int, int, int]) -> None:
        """``stack`` is the shape of an observation: (channels, height, width).

        Raises:
            ConfigurationError: the actions aren't arrays.
        """
        self.config: Config = config
        self.kind: Kind = actions.kind
        self.state_array_spec: Mapping[str, ArraySpec] = _state(stack)
        self.action_array_spec: Mapping[str, ArraySpec] = {
            ENV_ID: ArraySpec(np.int32, ()),
            PLAYERS_ENV_ID: ArraySpec(np.int32, (-1,)),
            **_actions(actions),
        }

    @property
    def reward_threshold(self) -> float | None:
        """The reward from which the environment counts as solved; one of the options."""
        return self.config.reward_threshold

    @property
    def action_parts(self) -> dict[str, ArraySpec]:
        """The arrays that an action is made of: ``action``, or several that begin with ``action.``."""
        return {name: spec for name, spec in self.action_array_spec.items() if name.startswith("action")}

    @property
    def observation_space(self) -> Any:
        """Gymnasium's space of an observation: a Box of uint8."""
        return _space(self.state_array_spec["obs"])

    @property
    def action_space(self) -> Any:
        """Gymnasium's space of an action: Discrete, a Box of 0 and 1 for each key, or a Dict."""
        spaces = {name: _space(spec) for name, spec in self.action_parts.items()}
        if len(spaces) == 1:
            return spaces["action"]
        parts = {name.partition(".")[2]: space for name, space in spaces.items()}
        gymnasium_spaces = _gymnasium_spaces()
        return gymnasium_spaces.Dict({"action": gymnasium_spaces.Dict(parts)})

    gymnasium_observation_space = observation_space
    gymnasium_action_space = action_space

    def observation_spec(self) -> Any:
        """Return dm_env's specs of an observation, a named tuple."""
        names = [name for name in self.state_array_spec if name.startswith(("obs", "info:"))]
        return state_tuple({name: _spec(name, self.state_array_spec[name]) for name in names})

    def action_spec(self) -> Any:
        """Return dm_env's spec of an action, or a dict of the specs of its parts."""
        specs = {name: _spec(name, spec) for name, spec in self.action_parts.items()}
        return specs["action"] if len(specs) == 1 else specs

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.config._asdict().items())
        return f"{type(self).__name__}({options})"


class Players(NamedTuple):
    """The environment of each player."""

    env_id: Any


class State(NamedTuple):
    """dm_env's observation: arrays, or their specs."""

    env_id: Any
    players: Players
    obs: Any
    lives: Any
    reward: Any
    terminated: Any
    lost: Any


def state_tuple(values: Mapping[str, Any]) -> State:
    """Return dm_env's observation, of values by the names of ``state_array_spec``."""
    info = {name: values[f"info:{name}"] for name in ("env_id", "lives", "reward", "terminated", "lost")}
    return State(obs=values["obs"], players=Players(values[f"info:{PLAYERS_ENV_ID}"]), **info)


def _state(stack: tuple[int, int, int]) -> dict[str, ArraySpec]:
    reward = ArraySpec(np.float32, (-1,), float(_FLOAT32.min), float(_FLOAT32.max))
    flag = ArraySpec(np.bool_, (), False, True)
    return {
        f"info:{ENV_ID}": ArraySpec(np.int32, ()),
        f"info:{PLAYERS_ENV_ID}": ArraySpec(np.int32, (-1,)),
        "elapsed_step": ArraySpec(np.int32, ()),
        "done": flag,
        "reward": reward,
        "discount": ArraySpec(np.float32, (-1,), 0.0, 1.0),
        "step_type": ArraySpec(np.int32, ()),
        "trunc": flag,
        "obs": ArraySpec(np.uint8, stack, 0, 255),
        "info:lives": ArraySpec(np.int32, (-1,)),
        "info:reward": reward,
        "info:terminated": ArraySpec(np.int32, (-1,), 0, 1),
        "info:lost": flag,
    }


def _actions(actions: ActionMap) -> dict[str, ArraySpec]:
    keys = ArraySpec(np.int32, (-1, len(actions.keys)), 0, 1)
    match actions.kind:
        case "discrete":
            return {"action": ArraySpec(np.int32, (-1,), 0, actions.n - 1)}
        case "keys":
            return {"action": keys}
        case "pointer":
            _, _, width, height = actions.box
            parts = {
                "action.pointer": ArraySpec(np.int32, (-1, 2), np.zeros(2, np.int32), np.array([width, height]) - 1),
                "action.buttons": ArraySpec(np.int32, (-1, BUTTONS), 0, 1),
            }
            return {**parts, "action.keys": keys} if actions.keys else parts
        case "events":
            raise ConfigurationError(
                "EnvPool's actions are arrays, and lists of events are none; leave actions at 'auto', or 'keys', "
                "'pointer' or 'discrete', or play this environment with pluriverse.make"
            )


def _space(spec: ArraySpec) -> Any:
    spaces = _gymnasium_spaces()
    if spec.of_one == () and np.issubdtype(spec.dtype, np.integer):
        return spaces.Discrete(int(spec.maximum) - int(spec.minimum) + 1, start=int(spec.minimum))
    return spaces.Box(spec.minimum, spec.maximum, spec.of_one, spec.dtype)


def _spec(name: str, spec: ArraySpec) -> Any:
    with needed("dm_env", extra="dm_env"):
        from dm_env import specs
    name = name.rpartition(":")[2].rpartition(".")[2]
    if spec.of_one == () and np.issubdtype(spec.dtype, np.integer) and spec.minimum == 0 and spec.maximum < _INT32.max:
        return specs.DiscreteArray(int(spec.maximum) + 1, spec.dtype, name)
    return specs.BoundedArray(spec.of_one, spec.dtype, spec.minimum, spec.maximum, name)


def _gymnasium_spaces() -> Any:
    with needed("Gymnasium", extra="gymnasium"):
        from gymnasium import spaces
    return spaces
