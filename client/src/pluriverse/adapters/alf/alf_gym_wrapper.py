"""``AlfGymWrapper``: an environment of Gymnasium's as one of ALF's."""

from __future__ import annotations

import functools
import importlib
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from pluriverse import validation
from pluriverse.adapters.registration import listed, named, register
from pluriverse.errors import ResetNeeded, needed

from . import nest
from .alf_environment import AlfEnvironment, Description
from .data_structures import (
    GOES_ON,
    SCALAR_REWARD,
    TimeStep,
    check_discount,
    restart,
    termination,
    transition,
    truncation,
)
from .nest import Nest
from .tensor_specs import BoundedTensorSpec, TensorSpec, as_action
from .tensors import Array, Refused
from .texts import encode, text_spec

if TYPE_CHECKING:
    import gymnasium

Info = Mapping[str, Any]


def tensor_spec_from_gym_space(
    space: gymnasium.Space[Any], *, simplify_box_bounds: bool = True, float_dtype: Any = "float32"
) -> Nest:
    """Return the nest of specs that stands for a space of Gymnasium's.

    Spaces are Discrete, MultiDiscrete, MultiBinary, Box, Text, or a Tuple or Dict of them; ``Refused`` are those whose
    values aren't of a fixed shape. Least values that are all the same become one number if ``simplify_box_bounds``, and
    so do greatest values. All floats are of ``float_dtype``; None: as the space has them.
    """
    spaces = import_gymnasium().spaces

    def bounded(shape: tuple[int, ...], dtype: Any, low: ArrayLike, high: ArrayLike) -> BoundedTensorSpec:
        return BoundedTensorSpec(shape, dtype, simple(np.asarray(low, dtype)), simple(np.asarray(high, dtype)))

    def simple(bound: Array) -> ArrayLike:
        same = simplify_box_bounds and bound.size and (bound == bound.flat[0]).all()
        return bound.flat[0] if same else bound

    def convert(space: Any) -> Nest:
        match space:
            case spaces.Discrete():
                return bounded((), space.dtype, space.start, space.start + space.n - 1)
            case spaces.MultiDiscrete():
                return bounded(space.shape, space.dtype, space.start, space.start + space.nvec - 1)
            case spaces.MultiBinary():
                return bounded(space.shape, space.dtype, 0, 1)
            case spaces.Box():
                dtype = float_dtype if float_dtype is not None and space.dtype.kind == "f" else space.dtype
                return bounded(space.shape, dtype, space.low, space.high)
            case spaces.Text():
                return text_spec()
            case spaces.Tuple():
                return tuple(convert(part) for part in space.spaces)
            case spaces.Dict():
                return {key: convert(part) for key, part in space.spaces.items()}
            case _:
                raise Refused(f"tensors can't hold the values of {space!r:.120}, which have no fixed shape")

    return convert(space)


class AlfGymWrapper(AlfEnvironment):
    """One environment of Gymnasium's.

    A terminated episode ends with discount 0, one that is only truncated with ``discount``. Floats are float32.
    ``env_info`` has those parts of ``info`` that are numbers or arrays of them, of one shape at each step;
    ``get_info`` has all of it.
    """

    def __init__(
        self,
        gym_env: gymnasium.Env[Any, Any],
        env_id: int | None = None,
        discount: float = GOES_ON,
        auto_reset: bool = True,
        simplify_box_bounds: bool = True,
    ) -> None:
        """Begin an episode and make a step, to see what ``info`` holds; ``env_id`` is the index in a batch.

        ``discount``, above 0 and at most 1, is of steps after which an episode could go on. Unless ``auto_reset`` the
        step after an episode's last is refused. ``simplify_box_bounds`` is as in ``tensor_spec_from_gym_space``.
        """
        self._gym_env = gym_env
        self._env_id = np.int32(env_id or 0)
        self._discount = check_discount(discount)
        self._auto_reset = auto_reset
        spec = functools.partial(tensor_spec_from_gym_space, simplify_box_bounds=simplify_box_bounds)
        action_spec = spec(gym_env.action_space, float_dtype=None)
        # Rewards of several parts have a space, in none of Gymnasium's own environments.
        several = gym_env.has_wrapper_attr("reward_space")
        self._seed: int | None = None
        self.done = True
        self._info: dict[str, Any] = {}
        gym_env.reset()
        info = gym_env.step(_gym_action(nest.map_structure(_nearest_to_zero, action_spec)))[4]
        self._zero_info = nest.map_structure(np.zeros_like, _numbers(info))
        super().__init__(
            Description(
                spec(gym_env.observation_space),
                action_spec,
                spec(gym_env.get_wrapper_attr("reward_space")) if several else SCALAR_REWARD,
                env_info_spec=nest.map_structure(TensorSpec.from_array, self._zero_info),
                metadata=dict(gym_env.metadata or {}),
            )
        )

    @property
    def gym(self) -> gymnasium.Env[Any, Any]:
        """The environment within."""
        return self._gym_env

    def seed(self, seed: int) -> None:
        """Seed the episode that the next ``reset`` begins, and those after it."""
        self._seed = validation.integer("seed", seed, 0)

    def render(self, mode: str = "rgb_array") -> Any:
        """Return what the environment renders; raise ``ConfigurationError`` if it was made with another mode."""
        if mode != self._gym_env.render_mode:
            made = f"this environment was made with render_mode={self._gym_env.render_mode!r}"
            raise Refused(f"{made}; make it with gymnasium.make(…, render_mode={mode!r}) to render it so")
        return self._gym_env.render()

    def get_info(self) -> dict[str, Any]:
        """Return Gymnasium's ``info`` of the last step or reset."""
        return self._info

    def close(self) -> None:
        """Close the environment within."""
        self._gym_env.close()

    def __getattr__(self, name: str) -> Any:
        """Return a public attribute of the environment within."""
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return self._gym_env.get_wrapper_attr(name)

    def _reset(self) -> TimeStep:
        # Without a seed an environment goes on with the random numbers that it has.
        seed, self._seed = self._seed, None
        observation, self._info = self._gym_env.reset(seed=seed)
        self.done = False
        observation = self._converted(observation)
        return restart(observation, self.action_spec(), self.reward_spec(), self._env_id, self._zero_info)

    def _step(self, action: Nest) -> TimeStep:
        if self.done:
            if not self._auto_reset:
                raise ResetNeeded("the episode is over, and auto_reset is off; call reset() before the next step")
            return self.reset()
        action = as_action(self.action_spec(), action)
        observation, reward, terminated, truncated, self._info = self._gym_env.step(_gym_action(action))
        self.done = bool(terminated or truncated)
        step = (self._converted(observation), action, reward, self.reward_spec())
        info = _fit(self._info, self._zero_info)
        if terminated:
            return termination(*step, self._env_id, info)
        return (truncation if truncated else transition)(*step, self._discount, self._env_id, info)

    def _converted(self, observation: Nest) -> Nest:
        return nest.map_structure_up_to(
            self.observation_spec(), _convert, self.observation_spec(), observation, check_types=False
        )


def _convert(spec: TensorSpec, value: Any) -> Array:
    # A copy: many environments write the next observation into the same array.
    return encode(value) if isinstance(value, str) else np.array(value, spec.numpy_dtype, order="C")


def _gym_action(action: Nest) -> Nest:
    # Gymnasium's discrete environments index with their action, and compare it: a number, not an array of none.
    return nest.map_structure(operator.itemgetter(()), action)


def _nearest_to_zero(spec: BoundedTensorSpec) -> Array:
    return spec.numpy_zeros().clip(spec.minimum, spec.maximum)


def _number(value: object) -> Array | None:
    """Return an array of a number, a truth value or an array of them; None of anything else."""
    if isinstance(value, bool | int | float | np.generic | np.ndarray):
        array: Array = np.asarray(value)
        return array if array.dtype.kind in "biuf" else None
    return None


def _numbers(info: Info) -> dict[str, Nest]:
    """Return those parts of ``info`` that are numbers."""
    numbers: dict[str, Nest] = {}
    for key, value in info.items():
        part = (_numbers(cast("Info", value)) or None) if isinstance(value, Mapping) else _number(value)
        if part is not None:
            numbers[key] = part
    return numbers


def _fit(value: object, like: Nest) -> Nest:
    """Return info of the same structure as ``like``; what is missing, or of another shape, is zeros."""
    if isinstance(like, dict):
        info = cast("Info", value if isinstance(value, Mapping) else {})
        return {key: _fit(info.get(key), zero) for key, zero in cast("dict[str, Nest]", like).items()}
    array = _number(value)
    fits = array is not None and array.shape == like.shape and np.can_cast(array.dtype, like.dtype, "same_kind")
    return array.astype(like.dtype) if array is not None and fits else like


def import_gymnasium() -> Any:
    """Load Gymnasium with our environments and return it; raise ``ConfigurationError`` if it isn't installed."""
    with needed("Gymnasium", extra="alf"):
        gymnasium = importlib.import_module("gymnasium")
    register([*listed(), *named()])
    return gymnasium
