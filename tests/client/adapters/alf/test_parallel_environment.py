"""Several environments in processes, as one batch."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from pluriverse.adapters.alf import tensors
from pluriverse.adapters.alf.parallel_environment import MAX_CRASHES, ParallelAlfEnvironment
from pluriverse.adapters.alf.process_environment import WorkerFailed
from pluriverse.adapters.alf.tensor_specs import TensorSpec
from pluriverse.errors import ActionError, Closed, ConfigurationError
from pluriverse.testing.alf import check_environment
from support.alf_envs import DIE, RAISE, Counting, DiesOnce, NeverBegins, Pictures, Unmakeable, two_in_one

pytestmark = pytest.mark.usefixtures("no_process_is_left")


@pytest.fixture(scope="module")
def pair() -> Generator[ParallelAlfEnvironment]:
    """Two that never break, shared by the tests that need no others."""
    with ParallelAlfEnvironment([partial(Counting, length=3), partial(Counting, length=4)], seed=20) as env:
        yield env


def act(env: ParallelAlfEnvironment, *actions: int) -> Any:
    return env.step(tensors.chosen().tensor(np.array(actions)))


def play(env: ParallelAlfEnvironment, *actions: int, steps: int) -> list[list[int]]:
    """Processes by index, at each step."""
    return [act(env, *actions).observation[:, 0].tolist() for _ in range(steps)]


def test_batch_is_of_tensors_with_the_environments_side_by_side(pair: ParallelAlfEnvironment, library: str) -> None:
    assert (pair.batched, pair.batch_size, pair.is_tensor_based, pair.num_tasks) == (True, 2, True, 1)
    assert (pair.task_names, pair.metadata, pair.num_spare_envs_for_reload) == (["0"], {}, 0)
    assert pair.env_info_spec() == {"even": TensorSpec((), "bool"), "crashed": TensorSpec((), "bool")}
    first = pair.reset()
    assert type(first.observation).__module__ == library
    assert first.observation[:, 0].tolist() == [process.pid for process in pair.envs]
    assert first.env_id.tolist() == [0, 1]
    step = act(pair, 1, 2)
    assert step.prev_action.tolist() == [1, 2]
    assert step.env_info["even"].tolist() == [False, False]
    assert step.env_info["crashed"].tolist() == [False, False]
    assert pair.render().shape == (2, 2, 3)


def test_each_begins_anew_by_itself_after_its_own_last(pair: ParallelAlfEnvironment) -> None:
    pair.reset()
    kinds = [act(pair, 0, 0).step_type.tolist() for _ in range(6)]
    assert kinds == [[1, 1], [1, 1], [2, 1], [0, 2], [1, 0], [1, 1]]


def test_batch_conforms(pair: ParallelAlfEnvironment) -> None:
    check_environment(pair)


def test_wrong_actions_are_refused_before_any_environment_acts(pair: ParallelAlfEnvironment) -> None:
    before = pair.reset().observation.tolist()
    for action in (np.array([1]), np.array([1, 10]), np.array([0.5, 1]), np.array([[1, 1]]), {"a": 1}):
        with pytest.raises(ActionError, match="expected"):
            pair.step(action)
    assert act(pair, 0, 0).observation[:, 3].tolist() == [1, 1]
    assert [row[3] for row in before] == [0, 0]


def test_seeds_are_distinct_and_follow_from_one(pair: ParallelAlfEnvironment) -> None:
    assert sorted(pair.reset().observation[:, 1].tolist()) != [0, 0]
    pair.seed(40)
    assert pair.reset().observation[:, 1].tolist() == [40, 41]
    pair.seed(np.array([9, 3]))  # pyright: ignore[reportArgumentType]
    assert pair.reset().observation[:, 1].tolist() == [9, 3]
    with pytest.raises(ConfigurationError, match="3 seeds for 2"):
        pair.seed([1, 2, 3])


def test_seed_at_the_start_reaches_every_environment_and_generator() -> None:
    def seeded(env_id: int) -> Counting:
        # Drawn while it is made, as some simulators do.
        return Counting(env_id, length=1 + int(np.random.randint(1000)))

    lengths: list[Any] = []
    for _ in range(2):
        with ParallelAlfEnvironment([seeded, seeded], seed=7, start_serially=False) as env:
            assert env.reset().observation[:, 1].tolist() == [7, 8]
            lengths.append([process.call("__getattribute__", "_length")() for process in env.envs])
    assert lengths[0] == lengths[1]
    assert lengths[0][0] != lengths[0][1]


def test_spare_environments_hide_resets_and_take_turns() -> None:
    with ParallelAlfEnvironment([partial(Counting, length=2)] * 3, num_spare_envs_for_reload=1, seed=0) as env:
        assert (env.batch_size, env.num_spare_envs_for_reload) == (2, 1)
        one, other = env.reset().observation[:, 0].tolist()
        spare = next(worker.pid for worker in env._spares)  # pyright: ignore[reportPrivateUsage]
        # The spare one takes the first place, and who was there the second: nobody waits for its own reset.
        assert play(env, 0, 0, steps=3) == [[one, other], [one, other], [spare, one]]
        assert play(env, 0, 0, steps=3) == [[spare, one], [spare, one], [other, spare]]
        assert act(env, 0, 0).env_id.tolist() == [0, 1]
        env.seed(10)
        assert env.reset().observation[:, 1].tolist()[0] in {10, 11}
        check_environment(env)


def test_blocking_environments_act_one_after_the_other() -> None:
    with ParallelAlfEnvironment([partial(Counting, length=2)] * 2, blocking=True) as env:
        env.reset()
        assert [act(env, 0, 0).step_type.tolist() for _ in range(4)] == [[1, 1], [2, 2], [0, 0], [1, 1]]
        check_environment(env)


def test_processes_may_have_a_batch_each() -> None:
    with ParallelAlfEnvironment([two_in_one, two_in_one], seed=10) as env:
        assert env.batch_size == 4
        first = env.reset()
        assert first.observation[:, 1].tolist() == [20, 21, 22, 23]
        assert first.env_id.tolist() == [0, 1, 2, 3]
        kinds = [act(env, 1, 2, 3, 4).step_type.tolist() for _ in range(4)]
        assert kinds == [[1] * 4, [1] * 4, [2, 1, 2, 1], [0, 2, 0, 2]]
        env.reset()
        step = act(env, 1, 1, RAISE, 1)
        assert step.step_type.tolist() == [1, 1, 2, 2]
        assert step.env_info["crashed"].tolist() == [False, False, True, True]
        assert ["error" in info for info in env.get_info()] == [False, False, True, True]
        assert act(env, 1, 1, 1, 1).step_type.tolist() == [1, 1, 0, 0]
        assert act(env, 1, 1, 1, 1).step_type.tolist() == [2, 1, 1, 1]


def test_methods_of_all_are_called_at_once(pair: ParallelAlfEnvironment) -> None:
    assert pair.call_envs_with_same_args("has_loaded", "torch") == [False, False]
    pair.sync_progress()


@pytest.mark.parametrize("spares", [0, 1])
@pytest.mark.parametrize(("action", "why"), [(DIE, "exit code 3"), (RAISE, "as it was told to")])
def test_crash_truncates_its_own_episode_only_and_another_process_goes_on(action: int, why: str, spares: int) -> None:
    constructor = partial(Counting, length=5, breaks=True)
    with ParallelAlfEnvironment([constructor] * (2 + spares), num_spare_envs_for_reload=spares, seed=30) as env:
        broken, other = env.reset().observation[:, 0].tolist()
        act(env, 1, 1)
        step = act(env, action, 1)
        assert step.step_type.tolist() == [2, 1]
        assert step.discount.tolist() == [1, 1]
        assert step.reward.tolist() == [0, 2]
        assert step.env_info["crashed"].tolist() == [True, False]
        assert step.observation[:, 3].tolist() == [1, 2]
        assert step.prev_action.tolist() == [action, 1]
        assert why in env.get_info()[0]["error"]
        assert env.get_info()[1] == {}
        step = act(env, 1, 1)
        assert step.step_type.tolist() == [0, 1]
        assert step.env_info["crashed"].tolist() == [False, False]
        assert env.get_info() == [{}, {}]
        assert step.observation[0, 0] != broken
        assert step.observation[1].tolist() == [other, 31, 1, 3]
        # The spare one has the seed after the batch's; a process that is started for it, or instead, the next.
        assert step.observation[0, 1] == 32
        assert not psutil.pid_exists(broken)


def test_process_that_is_killed_between_two_steps_is_replaced() -> None:
    with ParallelAlfEnvironment([partial(Counting, length=5)] * 2) as env:
        victim = env.reset().observation[:, 0].tolist()[1]
        os.kill(victim, signal.SIGKILL)
        step = act(env, 1, 1)
        assert step.env_info["crashed"].tolist() == [False, True]
        assert "exit code -9" in env.get_info()[1]["error"]
        assert act(env, 1, 1).step_type.tolist() == [1, 0]


def test_process_that_dies_between_two_episodes_costs_nobody_a_step(tmp_path: Path) -> None:
    with ParallelAlfEnvironment([partial(DiesOnce, died=tmp_path / "died")], seed=3) as env:
        victim = env.reset().observation[:, 0].tolist()
        assert act(env, 0).is_last().tolist() == [True]
        step = act(env, 0)
        assert step.is_first().tolist() == [True]
        assert step.env_info["crashed"].tolist() == [False]
        assert step.observation[:, 0].tolist() != victim
        assert step.observation[:, 1].tolist() == [4]


def test_environment_that_never_begins_is_given_up() -> None:
    with (
        ParallelAlfEnvironment([NeverBegins]) as env,
        pytest.raises(WorkerFailed, match=rf"broke {MAX_CRASHES} times before a first step(.|\n)*no level to play"),
    ):
        env.reset()


def test_closed_environment_says_so_and_closing_may_be_repeated() -> None:
    env = ParallelAlfEnvironment([Counting])
    env.reset()
    env.close()
    env.close()
    with pytest.raises(Closed, match="closed"):
        env.reset()


NOT_TOGETHER: list[tuple[list[Any], dict[str, Any], str]] = [
    ([], {}, "at least one"),
    ([Counting], {"num_spare_envs_for_reload": 1}, "at least one"),
    ([Counting], {"num_spare_envs_for_reload": -1}, "0 or more"),
    ([Counting, Counting], {"num_spare_envs_for_reload": 1, "blocking": True}, "blocking=False"),
    ([Counting, Pictures], {}, "other specs"),
]


@pytest.mark.parametrize(
    ("constructors", "options", "message"),
    NOT_TOGETHER,
)
def test_what_does_not_go_together_is_refused(constructors: Any, options: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        ParallelAlfEnvironment(constructors, **options)


def test_environment_that_cannot_be_made_ends_the_others_too() -> None:
    with pytest.raises(WorkerFailed, match="no such level"):
        ParallelAlfEnvironment([Counting, Unmakeable], start_serially=False)
