"""Wrappers of steps and actions."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from pluriverse.adapters.alf import tensors
from pluriverse.adapters.alf.alf_environment import AlfEnvironment
from pluriverse.adapters.alf.alf_wrappers import (
    ActionObservationWrapper,
    AlfEnvironmentBaseWrapper,
    AtariTerminalOnLifeLossWrapper,
    BatchedTensorWrapper,
    BatchEnvironmentWrapper,
    ContinuousActionClip,
    CurriculumWrapper,
    DiscreteActionWrapper,
    GoalReplayEnvWrapper,
    MultitaskWrapper,
    NonEpisodicAgent,
    NormalizedActionWrapper,
    PerformanceProfiler,
    RandomFirstEpisodeLength,
    RewardClipping,
    ScalarRewardWrapper,
    TemporallyCorrelatedNoiseWrapper,
    TensorWrapper,
    TimeLimit,
)
from pluriverse.adapters.alf.data_structures import TimeStep, restart
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


def test_rewards_are_clipped_for_arrays_and_tensors() -> None:
    env = RewardClipping(Pictures(), -1, 0.5)
    env.reset()
    assert [float(env.step(4).reward) for _ in range(4)] == [-1, 0, 0.5, 0.5]
    assert env.reward_spec() == BoundedTensorSpec((), "float32", -1, 0.5)
    with a_batch(Pictures()) as batch:
        check_environment(RewardClipping(batch))


def test_normalized_actions_reach_the_environment_in_its_own_bounds() -> None:
    inner = Pictures()
    env = NormalizedActionWrapper(inner)
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
        env = NormalizedActionWrapper(batch)
        check_environment(env)
        assert min(inner.actions) >= 2
        assert max(inner.actions) <= 6


def test_discrete_actions_are_not_normalized() -> None:
    assert NormalizedActionWrapper(Counting()).action_spec() == Counting().action_spec()


def test_endless_actions_cannot_be_normalized() -> None:
    class Endless(Pictures):
        def action_spec(self) -> Any:
            return BoundedTensorSpec((), "float32", 0, np.inf)

    with pytest.raises(ConfigurationError, match="no finite bounds"):
        NormalizedActionWrapper(Endless())


def test_actions_beyond_their_bounds_are_clipped() -> None:
    inner = Pictures()
    env = ContinuousActionClip(NormalizedActionWrapper(inner))
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
        (partial(NonEpisodicAgent, discount=0), "above 0"),
        (partial(RewardClipping, minimum=1, maximum=0), "above the maximum"),
        (TensorWrapper, "wraps batched"),
    ],
)
def test_wrong_options_are_refused(wrap: Callable[[AlfEnvironment], Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        wrap(Counting())


def test_what_ends_single_episodes_takes_a_batch_of_one_and_no_other() -> None:
    with a_batch(Counting(length=9)) as batch:
        check_environment(TimeLimit(batch, 3))
    with pytest.raises(ConfigurationError, match="wrap each of them"):
        TimeLimit(BatchEnvironmentWrapper([Counting(), Counting()]), 3)


def test_specs_of_a_wrapped_step_are_the_wrappers() -> None:
    assert NormalizedActionWrapper(Pictures()).time_step_spec().prev_action == BoundedTensorSpec((), "float32", -1, 1)
    assert RewardClipping(Pictures()).time_step_spec().reward != TensorSpec(())


def test_first_episodes_are_of_random_length() -> None:
    random.seed(3)
    env = RandomFirstEpisodeLength(Counting(length=50), 5, num_episodes=2)
    env.reset()
    lengths: list[int] = []
    for _ in range(3):
        lengths.append(0)
        while not env.step(0).is_last():
            lengths[-1] += 1
        env.step(0)
    assert max(lengths[:2]) < 5
    assert lengths[2] == 49


def test_profiler_hands_over_what_each_so_many_steps_took() -> None:
    profiles: list[Any] = []
    env = PerformanceProfiler(Counting(length=9), profiles.append, 2)
    env.reset()
    for _ in range(4):
        env.step(0)
    assert len({id(each) for each in profiles}) == 2
    assert any(entry.code.co_name == "step" for entry in profiles[0].getstats() if not isinstance(entry.code, str))


def test_goal_of_an_episode_is_added_to_each_of_its_steps() -> None:
    class Goals(GoalReplayEnvWrapper):
        def get_goal_from_trajectory(self, trajectory: TimeStep) -> Any:
            return trajectory.observation[2]

        def get_trajectory_with_goal(self, trajectory: TimeStep, goal: Any) -> TimeStep:
            return trajectory._replace(observation={"observation": trajectory.observation, "goal": goal})

    env = Goals(Counting(length=1))
    assert [int(env.step(0).observation["goal"]) for _ in range(4)] == [1, 1, 2, 2]


def test_lost_life_costs_the_discount_and_not_the_episode() -> None:
    class Lives(Counting):
        def env_info_spec(self) -> Any:
            return {"lives": TensorSpec((), "int32")}

        def _reset(self) -> TimeStep:
            return super()._reset()._replace(env_info={"lives": np.int32(3)})

        def _step(self, action: Any) -> TimeStep:
            step = super()._step(action)
            return step._replace(env_info={"lives": np.int32(3 - self._steps // 2)})

    env = AtariTerminalOnLifeLossWrapper(Lives(length=4))
    assert [(int(s.step_type), float(s.discount)) for s in (env.step(0) for _ in range(6))] == [
        (0, 1),
        (1, 1),
        (1, 0),
        (1, 1),
        (2, 0),
        (0, 1),
    ]
    with pytest.raises(ConfigurationError, match="tells no lives"):
        AtariTerminalOnLifeLossWrapper(Counting())


def test_action_is_seen_beside_the_observation() -> None:
    env = ActionObservationWrapper(Counting())
    env.reset()
    step = env.step(4)
    assert step.observation["prev_action"] == 4
    assert step.observation["observation"].shape == (4,)
    check_environment(env)


def test_vector_of_rewards_is_weighed() -> None:
    class Two(Counting):
        def reward_spec(self) -> TensorSpec:
            return TensorSpec((2,))

        def _reset(self) -> TimeStep:
            return super()._reset()._replace(reward=np.zeros(2, np.float32))

        def _step(self, action: Any) -> TimeStep:
            step = super()._step(action)
            return step if step.is_first() else step._replace(reward=np.array([1, 10], np.float32))

    plain, weighed = ScalarRewardWrapper(Two()), ScalarRewardWrapper(Two(), [0.5, 0.25])
    for env, reward in ((plain, 1), (weighed, 3)):
        env.reset()
        assert env.step(0).reward == reward
        assert env.reward_spec() == TensorSpec(())
        check_environment(env)
    for wrong in (lambda: ScalarRewardWrapper(Counting()), lambda: ScalarRewardWrapper(Two(), [1])):
        with pytest.raises(AssertionError, match="expected one for each"):
            wrong()


class Arm(Counting):
    """Two continuous actions of -1 to 1 and of 0 to 10; remembers them."""

    def __init__(self) -> None:
        super().__init__()
        self.actions: list[list[float]] = []

    def action_spec(self) -> Any:
        return BoundedTensorSpec((2,), "float32", [-1, 0], [1, 10])

    def _step(self, action: Any) -> TimeStep:
        self.actions.append(np.asarray(action).tolist())
        step = super()._step(np.zeros(2, np.float32))
        return step if step.is_first() else step._replace(prev_action=action)


def test_row_of_actions_becomes_one_number() -> None:
    inner = Arm()
    env = DiscreteActionWrapper(inner, 3)
    assert env.action_spec() == BoundedTensorSpec((), "int64", 0, 8)
    env.reset()
    for action in (0, 5, 8):
        assert env.step(action).prev_action == action
    assert inner.actions == [[-1, 0], [0, 10], [1, 10]]
    check_environment(env)
    with a_batch(Arm()) as batch:
        check_environment(DiscreteActionWrapper(batch, 4))
    with pytest.raises(AssertionError, match="bounded row of floats"):
        DiscreteActionWrapper(Counting(), 3)


def test_noise_is_of_this_step_and_the_last_and_stays_within_the_bounds() -> None:
    inner = Arm()
    env = TemporallyCorrelatedNoiseWrapper(inner, sigma=0.1)
    np.random.seed(0)
    drawn = np.random.RandomState(0).standard_normal((4, 2)) * 0.1
    env.reset()
    for _ in range(3):
        env.step(np.array([0, 5], np.float32))
    # The first step draws its own noise, then one for the step before it.
    expected = [drawn[0] + drawn[1], drawn[2] + drawn[0], drawn[3] + drawn[2]]
    assert np.allclose(inner.actions, np.array(expected) + np.array([0, 5]), atol=1e-6)
    env.step(np.array([9, 99], np.float32))
    assert inner.actions[-1] == [1, 10]


def test_environments_side_by_side_are_one_batch_of_arrays() -> None:
    env = BatchEnvironmentWrapper([Counting(0, 3), Counting(1, 4)])
    assert (env.batched, env.batch_size, env.is_tensor_based) == (True, 2, False)
    env.seed(5)
    assert env.reset().observation[:, 1].tolist() == [10, 11]
    step = env.step(np.array([1, 2]))
    assert (step.prev_action.tolist(), step.env_id.tolist(), len(env.get_info())) == ([1, 2], [0, 1], 2)
    assert env.render()[0, 0, 0] == 0
    check_environment(env)
    check_environment(TensorWrapper(env))
    env.close()
    for wrong in ([], [Counting(), Pictures()], [env, env]):
        with pytest.raises(ValueError, match="expected"):
            BatchEnvironmentWrapper(wrong)


def test_single_environment_becomes_a_batch_of_one_in_this_thread() -> None:
    env = BatchedTensorWrapper(Counting())
    check_environment(env)
    assert env.get_info() == [{}]
    with pytest.raises(AssertionError, match="wraps a single environment"):
        BatchedTensorWrapper(env)


def tasks(env_id: int | None = None) -> MultitaskWrapper:
    return MultitaskWrapper([Counting(5, 3), Counting(6, 4)], ["short", "long"], env_id)


def test_task_is_chosen_by_the_action() -> None:
    env = tasks(env_id=2)
    assert (env.num_tasks, env.get_num_tasks(), env.task_names) == (2, 2, ["short", "long"])
    env.seed(9)
    assert env.reset().prev_action == {"task_id": 0, "action": 0}
    step = env.step({"task_id": 1, "action": 4})
    assert step.prev_action == {"task_id": 1, "action": 4}
    assert (step.env_id, env.render()[0, 0, 0], env.has_loaded("numpy")) == (2, 6, True)
    with pytest.raises(AssertionError, match="name of its own"):
        MultitaskWrapper([Counting(), Counting()], ["same", "same"])


def test_tasks_are_loaded_by_name() -> None:
    def by_name(name: str, length: int) -> Counting:
        return Counting(len(name), length)

    env = MultitaskWrapper.load(by_name, ["a", "bc"], length=3)
    assert env.task_names == ["a", "bc"]
    env.close()


def test_curriculum_prefers_the_task_that_gets_better() -> None:
    class Better(Counting):
        """Each episode earns more than the last."""

        def _step(self, action: Any) -> TimeStep:
            step = super()._step(action)
            return step._replace(reward=np.float32(self._episode if step.is_last() else 0))

    class Same(Counting):
        def _step(self, action: Any) -> TimeStep:
            return super()._step(action)._replace(reward=np.float32(0))

    def make(env_id: int) -> MultitaskWrapper:
        return MultitaskWrapper([Better(0, 3), Same(1, 3)], ["better", "same"], env_id)

    np.random.seed(0)
    env = CurriculumWrapper(BatchEnvironmentWrapper([make(0), make(1)]), 10.0, 0.2, 0.1, warmup_period=2)
    assert env.action_spec() == Counting().action_spec()
    assert env.env_info_spec()["curriculum_task_prob"] == {"better": TensorSpec(()), "same": TensorSpec(())}
    steps = [env.step(np.zeros(2, np.int64)) for _ in range(120)]
    check_environment(env)
    for step in steps:
        probs = step.env_info["curriculum_task_prob"]
        assert np.allclose(probs["better"] + probs["same"], step.is_last())
    last = next(step for step in reversed(steps) if step.is_last().all()).env_info
    assert last["curriculum_task_prob"]["better"][0] == pytest.approx(10 / 11)
    assert last["curriculum_task_count"]["better"][0] > last["curriculum_task_count"]["same"][0]
    with pytest.raises(AssertionError, match="task_id and action"):
        CurriculumWrapper(Counting())


def test_curriculum_counts_nothing_of_an_episode_that_was_left() -> None:
    env = CurriculumWrapper(BatchEnvironmentWrapper([tasks()]), 10.0, 1.0, 1.0)
    action = env.reset().prev_action
    env.step(action)
    env.reset()
    while not (step := env.step(action)).is_last().all():
        pass
    scores = {task: float(score[0]) for task, score in step.env_info["curriculum_task_score"].items()}
    assert scores in ({"short": 1 + 2 + 3, "long": 0}, {"short": 0, "long": 1 + 2 + 3 + 4})


def test_curriculum_of_tensors_gives_tensors(library: str) -> None:
    env = CurriculumWrapper(TensorWrapper(BatchEnvironmentWrapper([tasks()])))
    step = env.step(env.reset().prev_action)
    assert type(step.env_info["curriculum_task_score"]["short"]).__module__ == library
    check_environment(env)
