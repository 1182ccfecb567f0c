"""One environment in a thread."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from pluriverse.adapters.alf import tensors
from pluriverse.adapters.alf.thread_environment import ThreadEnvironment
from pluriverse.errors import ConfigurationError
from pluriverse.testing.alf import check_environment
from support.alf_envs import Counting


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


def test_environment_lives_in_one_other_thread_and_is_a_batch_of_one(library: str) -> None:
    made: list[Threaded] = []
    action = tensors.tensor(np.array([0]))
    with ThreadEnvironment(lambda: made.append(Threaded()) or made[0]) as env:
        assert (env.batched, env.batch_size, env.is_tensor_based) == (True, 1, True)
        assert env.step(action).is_first().tolist() == [True]
        assert type(env.step(action).reward).__module__ == library
        check_environment(env)
    assert len(made[0].threads) == 1
    assert threading.get_ident() not in made[0].threads


def test_batched_environment_is_refused_and_nothing_is_left() -> None:
    before = threading.active_count()
    with ThreadEnvironment(Counting) as inner, pytest.raises(ConfigurationError, match="expected single ones"):
        ThreadEnvironment(lambda: inner)
    assert threading.active_count() == before
