"""``ParallelAlfEnvironment``: several environments as one batch, each in a process of its own."""

from __future__ import annotations

import dataclasses
import itertools
import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pluriverse import validation

from . import nest
from .alf_environment import AlfEnvironment, Description, one_seed_each
from .data_structures import TimeStep, truncation
from .nest import Nest
from .process_environment import ProcessEnvironment, Promise, WorkerFailed
from .tensor_specs import TensorSpec, as_action
from .tensors import Refused

_log = logging.getLogger(__name__)

# An environment that breaks so often before it gives a first step is broken for good.
MAX_CRASHES: Final = 3

CRASHED: Final = "crashed"


class ParallelAlfEnvironment(AlfEnvironment):
    """Environments of the same specs in processes, stepped together; takes and returns tensors.

    Unless ``blocking``, all act at the same time, and one whose episode is over begins the next while the agent
    thinks. ``env_info["crashed"]`` (bool) says whose process broke at this step: its episode is truncated, and another
    process takes its place; ``get_info`` says why.
    """

    def __init__(
        self,
        env_constructors: Sequence[Callable[..., AlfEnvironment]],
        start_serially: bool = True,
        blocking: bool = False,
        flatten: bool = True,
        num_spare_envs_for_reload: int = 0,
        torch_num_threads_per_env: int | None = 1,
        start_method: str = "fork",
        seed: int | None = None,
    ) -> None:
        """Start the processes, and wait until each has made its environment as ``constructor(env_id=…)``.

        They start at once unless ``start_serially``; if ``blocking`` one acts after the other.
        ``num_spare_envs_for_reload`` of them wait, with an episode begun, to take the place of those whose episode is
        over, so that no step waits for a reset; the others are the batch. NumPy and torch compute with
        ``torch_num_threads_per_env`` threads in each; None: any number. The environments, then the spare ones, and
        Python's and NumPy's own generators beside them, get ``seed`` and those after it, as do later processes.
        ``flatten`` and ``start_method`` change nothing: whole steps are sent, and each process is a fresh interpreter.

        Raise ``Refused`` if the numbers or the environments don't go together, ``WorkerFailed`` if one can't be made.
        """
        n = len(env_constructors) - num_spare_envs_for_reload
        if num_spare_envs_for_reload < 0 or n < 1:
            given = f"{num_spare_envs_for_reload} of {len(env_constructors)} environments are to be spare"
            raise Refused(f"{given}; expected 0 or more, and at least one that isn't")
        if blocking and num_spare_envs_for_reload:
            raise Refused("spare environments begin episodes while others act; that needs blocking=False")
        self._blocking = blocking
        self._threads = torch_num_threads_per_env
        self._seeds = None if seed is None else itertools.count(validation.integer("seed", seed, 0))
        workers = [self._new_worker(constructor, slot) for slot, constructor in enumerate(env_constructors)]
        self._workers, self._spares = workers[:n], deque(workers[n:])
        self._last: list[TimeStep] = []
        self._errors: list[str | None] = [None] * n
        try:
            for worker in workers:
                worker.start(wait_to_start=start_serially)
            described = Description.of_all(worker.description for worker in workers)
        except BaseException:
            self.close()
            raise
        # Batches begin their episodes by themselves.
        self._each = described.batch_size if described.batched else None
        info_spec = _with_crashed(described.env_info_spec, TensorSpec((), "bool", CRASHED))
        of_all = dataclasses.replace(described, env_info_spec=info_spec, batch_size=n * described.batch_size)
        super().__init__(dataclasses.replace(of_all, batched=True, is_tensor_based=True))

    @property
    def envs(self) -> list[ProcessEnvironment]:
        """The processes of the batch, by index; spare ones and crashes change which they are."""
        return list(self._workers)

    @property
    def num_spare_envs_for_reload(self) -> int:
        """Number of environments beside the batch."""
        return len(self._spares)

    def seed(self, seed: int | Sequence[int]) -> None:
        """Seed the episodes that the next ``reset`` begins: environment ``i``, then the spare ones, get ``seed + i``.

        Later processes get those after. Raise ``Refused`` if ``seed`` is a list, and hasn't one for each.
        """
        workers = [*self._workers, *self._spares]
        seeds = one_seed_each(seed, len(workers), "environments, with the spare ones")
        for promise in [worker.call("seed", each) for worker, each in zip(workers, seeds, strict=True)]:
            promise()
        self._seeds = itertools.count(max(seeds) + 1)

    def call_envs_with_same_args(self, func_name: str, *args: Any, **kwargs: Any) -> list[Any]:
        """Call a method of each environment of the batch; return what they return."""
        return [promise() for promise in [worker.call(func_name, *args, **kwargs) for worker in self._workers]]

    def sync_progress(self) -> None:
        """Call each environment's own."""
        self.call_envs_with_same_args("sync_progress")

    def render(self, mode: str = "rgb_array") -> Any:
        """Return the first environment's picture."""
        return self._workers[0].render(mode)

    def get_info(self) -> list[dict[str, Any]]:
        """Return for each environment ``error`` if its process broke at the last step, else nothing."""
        return [{} if error is None else {"error": error} for error in self._errors for _ in range(self._each or 1)]

    def close(self) -> None:
        """End all processes; may be called repeatedly."""
        self._closed = True
        for worker in (*self._workers, *self._spares):
            worker.hang_up()
        for worker in (*self._workers, *self._spares):
            worker.close()

    def _reset(self) -> TimeStep:
        self._require_open()
        self._errors = [None] * len(self._workers)
        for worker in (*self._workers, *self._spares):
            worker.begin()
        return self._together([self._first(index) for index in range(len(self._workers))])

    def _step(self, action: Nest) -> TimeStep:
        self._require_open()
        checked = as_action(self.action_spec(), action, (self.batch_size,))
        n, each = len(self._workers), self._each
        if each is not None:
            checked = nest.map_structure(lambda leaf: leaf.reshape(n, each, *leaf.shape[1:]), checked)
        actions = nest.unstack(checked, n)
        # One at a time if blocking, else all asked before the first is waited for.
        asked = (self._ask(index, each) for index, each in enumerate(actions))
        promises = asked if self._blocking else list(asked)
        return self._together([self._acted(index, promise, actions[index]) for index, promise in enumerate(promises)])

    def _ask(self, index: int, action: Nest) -> Promise | None:
        """Ask an environment to act; None if its episode is over, and it begins the next instead."""
        begins = self._workers[index].begins or (self._each is None and self._last[index].is_last())
        return None if begins else self._workers[index].call("step", action)

    def _acted(self, index: int, promise: Promise | None, action: Nest) -> TimeStep:
        self._errors[index] = None
        if promise is None:
            return self._first(index)
        try:
            return promise()
        except WorkerFailed as error:
            self._errors[index] = str(error)
            self._replace(index, error)
            last, spec = self._last[index], self.reward_spec()
            no_reward = spec.numpy_zeros(last.step_type.shape)
            return truncation(last.observation, action, no_reward, spec, env_info=last.env_info)

    def _first(self, index: int) -> TimeStep:
        for crashes in itertools.count(1):
            try:
                return self._workers[index].first_step()
            except WorkerFailed as error:
                if crashes == MAX_CRASHES:
                    message = f"environment {index} broke {crashes} times before a first step; the last time: {error}"
                    raise WorkerFailed(message) from error
                self._replace(index, error)
        raise AssertionError

    def _together(self, steps: list[TimeStep]) -> TimeStep:
        """Stack the steps, and begin the next episodes of those that are over."""
        self._last = steps
        crashed = np.array([error is not None for error in self._errors])
        if self._each is not None:
            joined = nest.map_structure(lambda *leaves: np.concatenate(leaves), *steps)
            crashed = crashed.repeat(self._each)
        else:
            joined = nest.stack(steps)
            if not self._blocking:
                for index in np.flatnonzero(joined.is_last() & ~crashed).tolist():
                    self._relieve(index, self._workers[index])
        env_id = np.arange(self.batch_size, dtype=np.int32)
        return joined._replace(env_id=env_id, env_info=_with_crashed(joined.env_info, crashed)).to_tensors()

    def _relieve(self, index: int, worker: _Worker) -> None:
        """Let a worker begin an episode behind the spare ones; the foremost of those, or itself, takes the place."""
        worker.begin()
        self._spares.append(worker)
        self._workers[index] = self._spares.popleft()

    def _replace(self, index: int, error: WorkerFailed) -> None:
        broken = self._workers[index]
        _log.warning("environment %d broke, and gets another process: %s", index, error)
        broken.close(grace_s=0)
        worker = self._new_worker(broken.constructor, broken.env_id)
        worker.start(wait_to_start=False)
        self._relieve(index, worker)

    def _new_worker(self, constructor: Callable[..., AlfEnvironment], slot: int | None) -> _Worker:
        seed = None if self._seeds is None else next(self._seeds)
        return _Worker(constructor, slot, torch_num_threads_per_env=self._threads, seed=seed)


class _Worker(ProcessEnvironment):
    """A process, and the promise of its next episode's first step, where that was asked for."""

    _first: Promise | None = None

    @property
    def begins(self) -> bool:
        return self._first is not None

    def begin(self) -> None:
        self._first = self.call("reset")

    def first_step(self) -> TimeStep:
        first, self._first = self._first or self.call("reset"), None
        return first()


def _with_crashed(env_info: dict[str, Nest] | None, crashed: Nest) -> dict[str, Nest]:
    return {**(env_info or {}), CRASHED: crashed}
