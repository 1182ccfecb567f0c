"""Stacks of pictures, of single environments with arrays and of batches with tensors."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from pluriverse.adapters.alf import tensors
from pluriverse.adapters.alf.alf_environment import AlfEnvironment
from pluriverse.adapters.alf.alf_wrappers import FrameStack
from pluriverse.adapters.alf.tensor_specs import BoundedTensorSpec, TensorSpec
from pluriverse.adapters.alf.thread_environment import ThreadEnvironment
from pluriverse.errors import ConfigurationError, Misuse
from pluriverse.testing.alf import check_environment
from support.alf_envs import Counting, Pictures

FIELDS = ["camera.front"]


@contextmanager
def wrapped(
    wrap: Callable[[AlfEnvironment], AlfEnvironment], batched: bool, **options: Any
) -> Generator[AlfEnvironment]:
    if not batched:
        yield wrap(Pictures(**options))
        return
    with ThreadEnvironment(lambda: Pictures(**options)) as env:
        yield wrap(env)


def play(env: AlfEnvironment, steps: int) -> list[Any]:
    """Observations of so many steps, as arrays without the batch."""
    action = np.full((1,) if env.batched else (), 4, np.float32)
    seen = [env.step(tensors.chosen().tensor(action) if env.is_tensor_based else action) for _ in range(steps)]
    arrays = [step.to_arrays().observation for step in seen]
    return [array[0] for array in arrays] if env.batched else arrays


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("order", ["channels_first", "channels_last"])
def test_stack_has_the_newest_last_and_begins_anew_with_each_episode(batched: bool, order: Any) -> None:
    first = order == "channels_first"
    with wrapped(lambda env: FrameStack(env, 3, order), batched, channel_first=first) as env:
        assert env.observation_spec().shape == ((9, 8, 12) if first else (8, 12, 9))
        reds = [(array[::3, 0, 0] if first else array[0, 0, ::3]).tolist() for array in play(env, 7)]
        assert reds == [
            [10, 10, 10],
            [10, 10, 20],
            [10, 20, 30],
            [20, 30, 40],
            [30, 40, 50],
            [10, 10, 10],
            [10, 10, 20],
        ]
        check_environment(env)


def test_stack_is_not_what_the_agent_was_given() -> None:
    env = FrameStack(Pictures(), 2)
    env.reset().observation[:] = 99
    assert env.step(4).observation[::3, 0, 0].tolist() == [10, 20]


def test_bounds_are_stacked_with_the_frames() -> None:
    class Uneven(Counting):
        def observation_spec(self) -> Any:
            return BoundedTensorSpec((2,), "float32", [0, 1], [5, 6])

    assert FrameStack(Uneven(), 2).observation_spec() == BoundedTensorSpec((4,), "float32", [0, 1, 0, 1], [5, 6, 5, 6])
    assert FrameStack(Counting(), 2).observation_spec() == TensorSpec((8,), "int64")


def test_only_the_fields_that_are_named_are_stacked() -> None:
    env = FrameStack(Pictures(nested=True), 4, fields=FIELDS)
    assert env.observation_spec()["camera"]["front"].shape == (12, 8, 12)
    assert env.observation_spec()["steps"] == TensorSpec((), "int64")
    assert play(env, 3)[2]["steps"] == 2
    check_environment(env)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FrameStack(Pictures(), 0), "stack_size is 0"),
        (lambda: FrameStack(Pictures(), 2, "first"), "channel_order"),  # pyright: ignore[reportArgumentType]
        (lambda: FrameStack(Pictures(nested=True)), "fields="),
        (lambda: FrameStack(Pictures(nested=True), fields=["steps"]), "one dimension or more"),
    ],
)
def test_wrong_options_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        make()


def test_unknown_field_is_refused() -> None:
    with pytest.raises(Misuse, match="no field 'rear'"):
        FrameStack(Pictures(nested=True), fields=["camera.rear"])
