import threading
from collections.abc import Generator
from functools import partial
from typing import Any

import numpy as np
import pytest
from pluriverse.adapters.alf import tensors
from pluriverse.adapters.alf.parallel_environment import ParallelAlfEnvironment
from pluriverse.adapters.alf.tensor_specs import TensorSpec
from pluriverse.adapters.alf.thread_environment import ThreadEnvironment
from pluriverse.errors import ActionError, Closed, ConfigurationError
from pluriverse.testing.alf import check_environment
from support.alf_envs import RAISE, Counting


@pytest.fixture
def pair() -> Generator[ParallelAlfEnvironment]:
    with ParallelAlfEnvironment([partial(Counting, length=3), partial(Counting, length=4)]) as env:
        yield env


def act(env: Any, *actions: int) -> Any:
    return env.step(tensors.tensor(np.array(actions)))


def test_batch_is_of_tensors_with_the_environments_side_by_side(pair: ParallelAlfEnvironment, library: str) -> None:
    assert (pair.batched, pair.batch_size, pair.is_tensor_based) == (True, 2, True)
    assert pair.env_info_spec() == {"even": TensorSpec((), "bool")}
    first = pair.reset()
    assert type(first.observation).__module__ == library
    assert first.env_id.tolist() == [0, 1]
    step = act(pair, 1, 2)
    assert step.prev_action.tolist() == [1, 2]
    assert step.env_info["even"].tolist() == [False, False]
    assert pair.render().shape == (2, 2, 3)
    assert pair.get_info() == [{}, {}]


def test_batch_conforms(pair: ParallelAlfEnvironment) -> None:
    check_environment(pair)


def test_wrong_actions_are_refused_before_any_environment_acts(pair: ParallelAlfEnvironment) -> None:
    pair.reset()
    for action in (np.array([1]), np.array([1, 10]), np.array([0.5, 1]), np.array([[1, 1]]), {"a": 1}):
        with pytest.raises(ActionError, match="expected"):
            pair.step(action)
    assert act(pair, 0, 0).observation[:, 2].tolist() == [1, 1]


def test_seeds_are_distinct_and_follow_from_one(pair: ParallelAlfEnvironment) -> None:
    pair.seed(40)
    assert pair.reset().observation[:, 0].tolist() == [40, 41]
    pair.seed([9, 3])
    assert pair.reset().observation[:, 0].tolist() == [9, 3]
    with pytest.raises(ConfigurationError, match="3 seeds for 2"):
        pair.seed([1, 2, 3])


def test_all_act_at_the_same_time() -> None:
    together = threading.Barrier(3, timeout=60)

    class Meeting(Counting):
        def _step(self, action: Any) -> Any:
            together.wait()
            return super()._step(action)

    with ParallelAlfEnvironment([Meeting] * 3) as env:
        env.reset()
        assert act(env, 0, 0, 0).reward.tolist() == [1, 1, 1]


def test_single_environment_lives_in_one_other_thread(library: str) -> None:
    threads: list[int] = []

    class Threaded(Counting):
        def _step(self, action: Any) -> Any:
            threads.append(threading.get_ident())
            return super()._step(action)

        def close(self) -> None:
            threads.append(threading.get_ident())

    with ThreadEnvironment(lambda: threads.append(threading.get_ident()) or Threaded()) as env:
        assert (env.batched, env.batch_size, env.is_tensor_based) == (True, 1, True)
        env.reset()
        assert type(act(env, 0).reward).__module__ == library
        check_environment(env)
    assert len({*threads}) == 1
    assert threading.get_ident() not in threads


def test_batched_environment_is_refused_and_nothing_is_left() -> None:
    before = threading.active_count()
    with ThreadEnvironment(Counting) as inner, pytest.raises(ConfigurationError, match="expected single ones"):
        ThreadEnvironment(lambda: inner)
    assert threading.active_count() == before


def test_what_one_raises_is_raised_and_the_next_reset_begins_anew() -> None:
    with ParallelAlfEnvironment([Counting, partial(Counting, breaks=True)]) as env:
        env.reset()
        with pytest.raises(ZeroDivisionError, match="as it was told to"):
            act(env, 0, RAISE)
        assert env.reset().is_first().tolist() == [True, True]
        assert act(env, 0, 0).reward.tolist() == [1, 1]


def interrupted(_: Any) -> None:
    raise KeyboardInterrupt


def test_step_after_an_interrupted_one_gives_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with ParallelAlfEnvironment([Counting]) as env:
        env.reset()
        with monkeypatch.context() as patch:
            patch.setattr("concurrent.futures.wait", interrupted)
            with pytest.raises(KeyboardInterrupt):
                act(env, 1)
        step = act(env, 2)
        assert (step.prev_action.tolist(), step.reward.tolist()) == ([1], [1])
        assert act(env, 2).reward.tolist() == [2]


def test_environments_that_are_not_alike_are_refused_and_closed() -> None:
    before = threading.active_count()
    closed: list[int] = []

    class Other(Counting):
        def __init__(self, env_id: int, dtype: str) -> None:
            super().__init__(env_id)
            self._observation_spec = TensorSpec((3,), dtype)

        def close(self) -> None:
            closed.append(self.env_id)

    with pytest.raises(ConfigurationError, match="environment 1 has the specs"):
        ParallelAlfEnvironment([partial(Other, dtype="int64"), partial(Other, dtype="int32")])
    assert sorted(closed) == [0, 1]
    with pytest.raises(ConfigurationError, match="expected one or more"):
        ParallelAlfEnvironment([])
    assert threading.active_count() == before


def test_closed_batch_says_so_and_closing_may_be_repeated(pair: ParallelAlfEnvironment) -> None:
    pair.close()
    pair.close()
    with pytest.raises(Closed, match="closed"):
        pair.reset()
