"""Wrappers of steps and actions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from pluriverse.adapters.alf import tensors
from pluriverse.adapters.alf.alf_environment import AlfEnvironment
from pluriverse.adapters.alf.alf_wrappers import (
    AlfEnvironmentBaseWrapper,
    ContinuousActionClip,
    FrameSkip,
    NonEpisodicAgent,
    NormalizedAction,
    RewardClipping,
    TensorWrapper,
    TimeLimit,
)
from pluriverse.adapters.alf.data_structures import restart
from pluriverse.adapters.alf.tensor_specs import BoundedTensorSpec, TensorSpec
from pluriverse.adapters.alf.thread_environment import ThreadEnvironment
from pluriverse.errors import ActionError, ConfigurationError
from pluriverse.testing.alf import check_environment
from support.alf_envs import Counting, Pictures


def a_batch(env: AlfEnvironment) -> ThreadEnvironment:
    return ThreadEnvironment(lambda: env)


def test_base_wrapper_changes_nothing_and_hands_everything_on() -> None:
    inner = Counting(env_id=7, length=2)
    env = AlfEnvironmentBaseWrapper(inner)
    assert env.wrapped_env() is inner
    assert env.time_step_spec() == inner.time_step_spec()
    assert env.env_info_spec() == inner.env_info_spec()
    assert (env.batched, env.batch_size, env.num_tasks, env.task_names) == (False, 1, 1, ["0"])
    assert env.render()[0, 0, 0] == 7
    assert [bool(env.step(0).is_last()) for _ in range(4)] == [False, False, True, False]
    check_environment(env)
    with pytest.raises(AttributeError, match="_steps"):
        _ = env._steps  # pyright: ignore[reportPrivateUsage]


def test_base_wrapper_offers_what_else_there_is_within() -> None:
    assert AlfEnvironmentBaseWrapper(TimeLimit(Counting(), 5)).duration == 5


def test_time_limit_sets_last_and_keeps_the_discount() -> None:
    env = TimeLimit(Counting(length=5), 3)
    steps = [env.step(0) for _ in range(9)]
    assert [int(step.step_type) for step in steps] == [0, 1, 1, 2, 0, 1, 1, 2, 0]
    assert [float(step.discount) for step in steps] == [1] * 9
    assert all(np.asarray(step.step_type).dtype == np.int32 for step in steps)
    check_environment(env)


def test_outcome_within_the_limit_stays_one() -> None:
    env = TimeLimit(Counting(length=3), 3)
    assert [float(env.step(0).discount) for _ in range(5)] == [1, 1, 1, 0, 1]
    env = TimeLimit(Counting(length=2), 3)
    assert [int(env.step(0).step_type) for _ in range(7)] == [0, 1, 2, 0, 1, 2, 0]


def test_non_episodic_agent_never_sees_an_outcome() -> None:
    env = NonEpisodicAgent(Counting(length=2))
    assert [(int(step.step_type), float(step.discount)) for step in (env.step(0) for _ in range(4))] == [
        (0, 1),
        (1, 1),
        (2, 1),
        (0, 1),
    ]
    with a_batch(Counting(length=2)) as batch:
        env = NonEpisodicAgent(batch, discount=0.5)
        action = tensors.chosen().tensor(np.zeros(1, np.int64))
        assert [env.step(action).discount.tolist() for _ in range(4)] == [[1], [1], [0.5], [1]]
        check_environment(env)


def test_frame_skip_adds_up_rewards_and_stops_at_the_end() -> None:
    env = FrameSkip(Counting(length=5), 3)
    steps = [env.step(0) for _ in range(4)]
    assert [int(step.step_type) for step in steps] == [0, 1, 2, 0]
    assert [float(step.reward) for step in steps] == [0, 1 + 2 + 3, 4 + 5, 0]
    check_environment(env)


def test_rewards_are_clipped_for_arrays_and_tensors() -> None:
    env = RewardClipping(Pictures(), -1, 0.5)
    env.reset()
    assert [float(env.step(4).reward) for _ in range(4)] == [-1, 0, 0.5, 0.5]
    assert env.reward_spec() == BoundedTensorSpec((), "float32", -1, 0.5)
    with a_batch(Pictures()) as batch:
        check_environment(RewardClipping(batch))


def test_normalized_actions_reach_the_environment_in_its_own_bounds() -> None:
    inner = Pictures()
    env = NormalizedAction(inner)
    assert env.action_spec() == BoundedTensorSpec((), "float32", -1, 1)
    env.reset()
    for action in (-1, 0, 0.5, 1):
        assert env.step(np.float32(action)).prev_action == action
    assert inner.actions == [2, 4, 5, 6]
    assert env.step(np.float32(1)).prev_action == 0
    env.reset()
    with pytest.raises(ActionError, match="expected"):
        env.step(1.5)
    check_environment(env)


def test_normalized_actions_of_a_batch_are_tensors() -> None:
    inner = Pictures()
    with a_batch(inner) as batch:
        env = NormalizedAction(batch)
        check_environment(env)
        assert min(inner.actions) >= 2
        assert max(inner.actions) <= 6


def test_discrete_actions_are_not_normalized() -> None:
    assert NormalizedAction(Counting()).action_spec() == Counting().action_spec()


def test_endless_actions_cannot_be_normalized() -> None:
    class Endless(Pictures):
        def action_spec(self) -> Any:
            return BoundedTensorSpec((), "float32", 0, np.inf)

    with pytest.raises(ConfigurationError, match="no finite bounds"):
        NormalizedAction(Endless())


def test_actions_beyond_their_bounds_are_clipped() -> None:
    inner = Pictures()
    env = ContinuousActionClip(NormalizedAction(inner))
    env.reset()
    env.step(np.float32(-3))
    env.step(np.float32(3))
    assert inner.actions == [2, 6]
    plain = ContinuousActionClip(Counting())
    plain.reset()
    assert plain.step(3).prev_action == 3


def test_batch_that_was_written_for_arrays_gets_tensors(library: str) -> None:
    class Batch(Counting):
        @property
        def batched(self) -> bool:
            return True

        @property
        def batch_size(self) -> int:
            return 2

        def _reset(self) -> Any:
            return restart(np.zeros((2, 4), np.int64), self.action_spec(), batched=True, env_info={})

        def _step(self, action: Any) -> Any:
            assert type(action) is np.ndarray
            return self._reset()

        def env_info_spec(self) -> Any:
            return {}

    env = TensorWrapper(Batch())
    assert env.is_tensor_based
    step = env.step(env.action_spec().sample((2,)))
    assert type(step.observation).__module__ == library
    assert type(env.step(env.action_spec().sample((2,))).reward).__module__ == library


@pytest.mark.parametrize(
    ("wrap", "message"),
    [
        (partial(TimeLimit, duration=0), "1 step or more"),
        (partial(FrameSkip, skip=0), "1 step or more"),
        (partial(NonEpisodicAgent, discount=0), "above 0"),
        (partial(RewardClipping, minimum=1, maximum=0), "above the maximum"),
        (TensorWrapper, "wraps batched"),
    ],
)
def test_wrong_options_are_refused(wrap: Callable[[AlfEnvironment], Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        wrap(Counting())


@pytest.mark.parametrize("wrap", [TimeLimit, FrameSkip])
def test_what_ends_and_repeats_single_episodes_refuses_batches(wrap: Any) -> None:
    with a_batch(Counting()) as batch, pytest.raises(ConfigurationError, match="wraps single environments"):
        wrap(batch, 3)


def test_specs_of_a_wrapped_step_are_the_wrappers() -> None:
    assert NormalizedAction(Pictures()).time_step_spec().prev_action == BoundedTensorSpec((), "float32", -1, 1)
    assert RewardClipping(Pictures()).time_step_spec().reward != TensorSpec(())
