"""One environment in a thread."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from pluriverse.adapters.alf import tensors
from pluriverse.adapters.alf.thread_environment import ThreadEnvironment
from pluriverse.errors import ActionError, Closed, ConfigurationError
from pluriverse.testing.alf import check_environment
from support.alf_envs import RAISE, Counting


class Threaded(Counting):
    """Remembers in which threads it was used."""

    def __init__(self) -> None:
        super().__init__()
        self.threads = {threading.get_ident()}

    def _reset(self) -> Any:
        self.threads.add(threading.get_ident())
        return super()._reset()

    def _step(self, action: Any) -> Any:
        self.threads.add(threading.get_ident())
        return super()._step(action)

    def close(self) -> None:
        self.threads.add(threading.get_ident())


def an_action(number: int) -> Any:
    return tensors.chosen().tensor(np.array([number]))


def test_environment_lives_in_one_other_thread_and_is_a_batch_of_one(library: str) -> None:
    made: list[Threaded] = []
    with ThreadEnvironment(lambda: made.append(Threaded()) or made[0]) as env:
        assert (env.batched, env.batch_size, env.is_tensor_based) == (True, 1, True)
        step = env.step(an_action(0))
        assert step.is_first().tolist() == [True]
        assert type(env.step(an_action(0)).reward).__module__ == library
        check_environment(env)
        assert env.render().shape == (2, 2, 3)
        assert env.get_info() == [{}]
        assert (env.num_tasks, env.task_names, env.metadata) == (1, ["0"], {})
    assert len(made[0].threads) == 1
    assert threading.get_ident() not in made[0].threads


def test_what_it_raises_is_raised_here() -> None:
    with ThreadEnvironment(lambda: Counting(breaks=True)) as env:
        env.reset()
        with pytest.raises(ZeroDivisionError, match="as it was told to"):
            env.step(an_action(RAISE))
        with pytest.raises(ActionError, match="expected"):
            env.step(an_action(10))


def test_the_one_action_may_lack_its_batch_dimension() -> None:
    with ThreadEnvironment(Counting) as env:
        env.reset()
        assert env.step(tensors.chosen().tensor(np.array(1))).prev_action.tolist() == [1]


def test_seed_is_handed_on() -> None:
    with ThreadEnvironment(Counting) as env:
        env.seed(12)
        assert env.reset().observation[0, 1] == 12


def test_closing_ends_the_thread_and_may_be_repeated() -> None:
    before = threading.active_count()
    env = ThreadEnvironment(Counting)
    env.close()
    env.close()
    assert threading.active_count() == before
    with pytest.raises(Closed, match="closed"):
        env.reset()


def test_batched_environment_is_refused_and_nothing_is_left() -> None:
    before = threading.active_count()
    with ThreadEnvironment(Counting) as inner, pytest.raises(ConfigurationError, match="wraps a single environment"):
        ThreadEnvironment(lambda: inner)
    with pytest.raises(ZeroDivisionError):
        ThreadEnvironment(lambda: 1 // 0)  # pyright: ignore[reportArgumentType]
    assert threading.active_count() == before
