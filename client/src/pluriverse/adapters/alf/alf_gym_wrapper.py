"""``AlfGymWrapper``: an environment of Gymnasium's as one of ALF's."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from pluriverse import validation
from pluriverse.errors import ConfigurationError, needed

from .alf_environment import AlfEnvironment
from .data_structures import TimeStep, restart, termination, transition, truncation
from .tensor_specs import BoundedTensorSpec, TensorSpec, as_action, encode_text, text_spec
from .tensors import Array, Nest, tree

with needed("Gymnasium", extra="alf"):
    import gymnasium

spaces: Any = gymnasium.spaces  # its types are unknown in part
_NUMBERS = (bool, int, float, np.generic, np.ndarray)


def tensor_spec_from_gym_space(space: Any) -> Nest:
    """Return the nest of specs that stands for a space of Gymnasium's, with all floats as float32.

    Spaces are Discrete, MultiDiscrete, MultiBinary, Box, Text, or a Tuple or Dict of them; raise ``ConfigurationError``
    for others, whose values aren't of a fixed shape.
    """
    match space:
        case spaces.Discrete():
            return BoundedTensorSpec((), space.dtype, space.start, space.start + space.n - 1)
        case spaces.MultiDiscrete():
            return BoundedTensorSpec(space.shape, space.dtype, space.start, space.start + space.nvec - 1)
        case spaces.MultiBinary():
            return BoundedTensorSpec(space.shape, space.dtype, 0, 1)
        case spaces.Box():
            dtype = "float32" if space.dtype.kind == "f" else space.dtype
            return BoundedTensorSpec(space.shape, dtype, space.low, space.high)
        case spaces.Text():
            return text_spec()
        case spaces.Tuple():
            return tuple(tensor_spec_from_gym_space(part) for part in space.spaces)
        case spaces.Dict():
            return {key: tensor_spec_from_gym_space(part) for key, part in space.spaces.items()}
        case _:
            raise ConfigurationError(f"tensors can't hold the values of {space!r:.120}, which have no fixed shape")


class AlfGymWrapper(AlfEnvironment):
    """One environment of Gymnasium's, ``gym``.

    A terminated episode ends with discount 0, one that is only truncated with ``discount``. Floats are float32.
    ``env_info`` has those parts of ``info`` that are numbers or arrays of them, of one shape at each step;
    ``get_info`` has all of it.
    """

    def __init__(self, gym_env: gymnasium.Env[Any, Any], env_id: int | None = None, discount: float = 1.0) -> None:
        """Begin an episode and make a step, to see what ``info`` holds; ``env_id`` is the index in a batch.

        ``discount``, above 0 and at most 1, is of steps after which an episode could go on.
        """
        self.gym = gym_env
        self._env_id = env_id or 0
        self._discount = validation.number("discount", discount, above=0, maximum=1)
        self._seed: int | None = None
        self._info: dict[str, Any] = {}
        action_spec = tensor_spec_from_gym_space(gym_env.action_space)
        gym_env.reset()
        info = gym_env.step(_gym_action(tree.map_structure(BoundedTensorSpec.numpy_sample, action_spec)))[4]
        self._zero_info = {name: np.zeros_like(number) for name, number in _numbers(info).items()}
        super().__init__(
            tensor_spec_from_gym_space(gym_env.observation_space),
            action_spec,
            env_info_spec={name: TensorSpec(zero.shape, zero.dtype) for name, zero in self._zero_info.items()},
            metadata=dict(gym_env.metadata or {}),
        )

    def seed(self, seed: int) -> None:
        """Seed the episode that the next ``reset`` begins, and those after it."""
        self._seed = validation.integer("seed", seed, 0)

    def render(self, mode: str = "rgb_array") -> Any:
        """Return what the environment renders; raise ``ConfigurationError`` if it was made with another mode."""
        if mode != self.gym.render_mode:
            made = f"this environment was made with render_mode={self.gym.render_mode!r}"
            raise ConfigurationError(
                f"{made}; make it with gymnasium.make(…, render_mode={mode!r}) to render it that way"
            )
        return self.gym.render()

    def get_info(self) -> dict[str, Any]:
        """Return Gymnasium's ``info`` of the last step or reset."""
        return self._info

    def close(self) -> None:
        """Close the environment within."""
        self.gym.close()

    def _reset(self) -> TimeStep:
        # Without a seed an environment goes on with the random numbers that it has.
        seed, self._seed = self._seed, None
        observation, self._info = self.gym.reset(seed=seed)
        return restart(self._converted(observation), self._action_spec, env_id=self._env_id, env_info=self._zero_info)

    def _step(self, action: Nest) -> TimeStep:
        if self.current_time_step().is_last():
            return self.reset()
        action = as_action(self._action_spec, action)
        observation, reward, terminated, truncated, self._info = self.gym.step(_gym_action(action))
        step = (self._converted(observation), action, float(reward))
        info = _fit(self._info, self._zero_info)
        if terminated:
            return termination(*step, self._env_id, info)
        return (truncation if truncated else transition)(*step, self._discount, self._env_id, info)

    def _converted(self, observation: Nest) -> Nest:
        spec = self._observation_spec
        return tree.map_structure_up_to(spec, _convert, spec, observation)


def _convert(spec: TensorSpec, value: Any) -> Array:
    # A copy: many environments write the next observation into the same array.
    return encode_text(value) if isinstance(value, str) else np.array(value, spec.numpy_dtype, order="C")


def _gym_action(action: Nest) -> Nest:
    # Gymnasium's discrete environments index with their action, and compare it: a number, not an array of none.
    return tree.map_structure(operator.itemgetter(()), action)


def _numbers(info: Mapping[str, Any]) -> dict[str, Array]:
    """Return those parts of ``info`` that are numbers, or arrays of them."""
    arrays = {key: np.asarray(value) for key, value in info.items() if isinstance(value, _NUMBERS)}
    return {key: array for key, array in arrays.items() if array.dtype.kind in "biuf"}


def _fit(info: Mapping[str, Any], zeros: dict[str, Array]) -> dict[str, Array]:
    """Return the numbers of ``info`` that ``zeros`` has; what is missing, or of another shape, is zeros."""
    numbers = _numbers(info)
    return {
        key: numbers[key].astype(zero.dtype) if key in numbers and numbers[key].shape == zero.shape else zero
        for key, zero in zeros.items()
    }
