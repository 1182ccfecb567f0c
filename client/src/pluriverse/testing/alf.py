"""Conformance of an environment to ALF's interface."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from pluriverse.adapters.alf import tensors
from pluriverse.adapters.alf.data_structures import StepType, TimeStep
from pluriverse.adapters.alf.suite_pluriverse import PluriverseAlfEnvironment, load
from pluriverse.adapters.alf.tensor_specs import BoundedTensorSpec, TensorSpec
from pluriverse.adapters.alf.tensors import Array, Nest, Tensor, as_array, tree
from pluriverse.errors import ActionError
from pluriverse.remotes import RemoteManager

from . import NotConforming, require, require_error

STEPS: Final = 30


def check(env_id: str | None, remotes: int | str | RemoteManager = 1, **options: Any) -> None:
    """Play some steps, and raise ``NotConforming`` if the interface's contract is broken.

    ``options`` are those of ``adapters.alf.load``.
    """
    options.setdefault("max_episode_steps", STEPS // 3)
    with load(env_id, remotes, **options) as env:
        rng, outer_dims = np.random.default_rng(0), (env.batch_size,)
        step = env.step(_sample(env, rng))
        require(step.is_first().all(), "a step() before the first reset() begins an episode")
        before = env.reset()
        require(as_array(before.is_first()).all(), "reset() begins an episode")
        _check_time_step(env, before, None)
        ended = np.zeros(outer_dims, np.bool_)
        for _ in range(STEPS):
            action = _sample(env, rng)
            step = env.step(action)
            require(env.current_time_step() is step, "current_time_step() is the last step")
            over, first = as_array(before.is_last()), as_array(step.is_first())
            require((first == over).all(), "FIRST steps follow LAST ones, and only those")
            _check_time_step(env, step, action)
            ended |= as_array(step.is_last())
            before = step
        require(ended.all(), f"an episode of each ends within {STEPS} steps")
        _check_refusal(env)
        again = env.reset()
        require(as_array(again.is_first()).all(), "reset() begins an episode")
        _check_time_step(env, again, None)
    env.close()


def _check_time_step(env: PluriverseAlfEnvironment, step: TimeStep, action: Nest) -> None:
    outer_dims = (env.batch_size,)
    specs = env.time_step_spec()._replace(env_info=env.env_info_spec())
    require(specs.observation == env.observation_spec(), "time_step_spec() has the observation_spec()")
    require(specs.prev_action == env.action_spec(), "time_step_spec() has the action_spec()")
    for name, spec, value in zip(specs._fields, specs, step, strict=True):
        _check_part(name, spec, value, outer_dims)
    _check_discounts(as_array(step.step_type), as_array(step.discount))
    first = as_array(step.is_first())
    require((as_array(step.reward)[first] == 0).all(), "a FIRST step has no reward")
    for position, leaf in enumerate(tree.flatten(step.prev_action)):
        require(not as_array(leaf)[first].any(), "prev_action of a FIRST step is zeros")
        if action is not None:
            given = as_array(tree.flatten(action)[position])
            require((as_array(leaf)[~first] == given[~first]).all(), "prev_action is the action that was given")
    require((as_array(step.env_id) == np.arange(*outer_dims)).all(), "env_id counts the batch")


def _check_discounts(step_type: Array, discount: Array) -> None:
    first, last = step_type == StepType.FIRST, step_type == StepType.LAST
    require((first | last | (step_type == StepType.MID)).all(), "a step is FIRST, MID or LAST")
    require((discount[first] == 1).all(), "a FIRST step has discount 1")
    require((discount[last] >= 0).all() and (discount[~last] > 0).all(), "a discount is 0 with outcomes alone")
    require((discount <= 1).all(), "a discount is at most 1")


def _check_part(name: str, spec: Nest, value: Nest, outer_dims: tuple[int, ...]) -> None:
    def check_leaf(part: TensorSpec, leaf: Tensor) -> None:
        of_kind = isinstance(leaf, type(tensors.tensor(np.zeros(1))))
        require(of_kind, f"{name} is {type(leaf).__name__}, expected a tensor")
        # The zeros before an episode's first step may be no action.
        looked_for = TensorSpec(part.shape, part.dtype_str) if name == "prev_action" else part
        require(looked_for.contains(leaf, outer_dims), f"{name} is {leaf!r:.200}, expected {part} behind {outer_dims}")

    try:
        tree.map_structure(check_leaf, spec, value)
    except (TypeError, ValueError) as error:
        raise NotConforming(f"{name}: {error}") from error


def _check_refusal(env: PluriverseAlfEnvironment) -> None:
    if as_array(env.current_time_step().is_last()).any():
        env.reset()
    before = env.current_time_step()

    def spoil(spec: TensorSpec) -> Tensor:
        return tensors.tensor(np.zeros((env.batch_size, *spec.shape, 2), spec.dtype_str))

    require_error(ActionError, "an action of another shape", env.step, tree.map_structure(spoil, env.action_spec()))
    require(env.current_time_step() is before, "a refused action changes nothing")


def _sample(env: PluriverseAlfEnvironment, rng: np.random.Generator) -> Nest:
    def sample(spec: BoundedTensorSpec) -> Tensor:
        return spec.sample((env.batch_size,), rng)

    return tree.map_structure(sample, env.action_spec())
