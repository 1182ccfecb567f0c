"""``ParallelAlfEnvironment``: several environments as one batch, each in a process of its own."""

from __future__ import annotations

import itertools
import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pluriverse.errors import Closed, ConfigurationError

from . import nest
from .alf_environment import AlfEnvironment
from .data_structures import TimeStep, truncation
from .process_environment import ProcessEnvironment, Promise, WorkerFailed
from .tensor_specs import TensorSpec, as_action

_log = logging.getLogger(__name__)

# An environment that breaks so often before it gives a first step is broken for good.
MAX_CRASHES: Final = 3

CRASHED: Final = "crashed"


class ParallelAlfEnvironment(AlfEnvironment):
    """Environments of the same specs in processes, stepped together; takes and gives tensors.

    Unless ``blocking``, all act at the same time, and one whose episode is over begins the next while the agent
    thinks. ``env_info["crashed"]`` says whose process broke at this step: its episode is truncated, and another process
    takes its place; ``get_info`` says why.
    """

    def __init__(
        self,
        env_constructors: Sequence[Callable[..., AlfEnvironment]],
        start_serially: bool = True,
        blocking: bool = False,
        num_spare_envs_for_reload: int = 0,
        seed: int | None = None,
    ) -> None:
        """Start the processes, and wait until all environments are made.

        Args:
            env_constructors: called as ``constructor(env_id=…)``, each in its process.
            start_serially: whether one is started after the other; environments may compete while they are made.
            blocking: whether one acts after the other.
            num_spare_envs_for_reload: how many of them wait, with an episode begun, to take the place of those whose
                episode is over: nobody waits for resets. The others are the batch.
            seed: environment ``i``, then the spare ones, get ``seed + i``, as do Python's and NumPy's own generators in
                their processes; processes that are started later, for others that broke, get those after. None: they
                aren't seeded.

        Raises:
            ConfigurationError: the numbers don't go together, or the environments' specs differ.
            WorkerFailed: an environment could not be made.
        """
        super().__init__()
        n = len(env_constructors) - num_spare_envs_for_reload
        if num_spare_envs_for_reload < 0 or n < 1:
            raise ConfigurationError(
                f"of {len(env_constructors)} environments {num_spare_envs_for_reload} are to be spare; expected 0 or "
                "more spare ones, and at least one that isn't"
            )
        if blocking and num_spare_envs_for_reload:
            raise ConfigurationError("spare environments begin episodes while others act; that needs blocking=False")
        self._blocking = blocking
        self._seeds = itertools.count(seed) if seed is not None else None
        workers = [self._made(slot, constructor) for slot, constructor in enumerate(env_constructors)]
        self._workers, self._spares = workers[:n], deque(workers[n:])
        self._closed = False
        self._last: list[TimeStep] = []
        self._errors: list[str | None] = [None] * n
        try:
            self._start(start_serially)
        except BaseException:
            self.close()
            raise
        self._described = self._workers[0].process.description

    @property
    def envs(self) -> list[ProcessEnvironment]:
        """The processes of the batch, by index; which they are changes with spare ones and crashes."""
        return [worker.process for worker in self._workers]

    @property
    def num_spare_envs_for_reload(self) -> int:
        """How many there are beside the batch."""
        return len(self._spares)

    @property
    def is_tensor_based(self) -> bool:
        """It is."""
        return True

    @property
    def batched(self) -> bool:
        """It is."""
        return True

    @property
    def batch_size(self) -> int:
        """How many environments act."""
        return len(self._workers)

    @property
    def num_tasks(self) -> int:
        """How many tasks there are to do in each."""
        return self._described.num_tasks

    @property
    def task_names(self) -> list[str]:
        """What they are called."""
        return self._described.task_names

    @property
    def metadata(self) -> dict[str, Any]:
        """The first environment's."""
        return self._described.metadata

    def env_info_spec(self) -> nest.Nest:
        """A dict of the environments' own, and ``crashed``."""
        return _with_crashed(self._described.env_info_spec, TensorSpec((), "bool", CRASHED))

    def observation_spec(self) -> nest.Nest:
        """The specs of observations."""
        return self._described.observation_spec

    def action_spec(self) -> nest.Nest:
        """The specs of actions."""
        return self._described.action_spec

    def reward_spec(self) -> TensorSpec:
        """The spec of rewards."""
        return self._described.reward_spec

    def seed(self, seed: int | Sequence[int]) -> None:
        """Seed what comes after the next ``reset``: environment ``i``, then the spare ones, get ``seed + i``.

        Processes that are started later, for others that broke, get those after.

        Raises:
            ConfigurationError: ``seed`` is a list, and hasn't one for each.
        """
        workers = [*self._workers, *self._spares]
        seeds = [seed + index for index in range(len(workers))] if isinstance(seed, int) else list(seed)
        if len(seeds) != len(workers):
            raise ConfigurationError(f"there are {len(seeds)} seeds for {len(workers)} environments, spare ones too")
        for promise in [worker.process.call("seed", each) for worker, each in zip(workers, seeds, strict=True)]:
            promise()
        self._seeds = itertools.count(max(seeds) + 1)

    def render(self, mode: str = "rgb_array") -> Any:
        """The first environment's picture."""
        return self._workers[0].process.render(mode)

    def get_info(self) -> list[dict[str, Any]]:
        """Of each environment what ``env_info`` can't hold: ``error`` where its process broke at the last step."""
        return [{} if error is None else {"error": error} for error in self._errors]

    def close(self) -> None:
        """End all processes; may be called repeatedly."""
        self._closed = True
        processes = [worker.process for worker in (*self._workers, *self._spares)]
        for process in processes:
            process.hang_up()
        for process in processes:
            process.close()

    def _start(self, serially: bool) -> None:
        workers = [*self._workers, *self._spares]
        for worker in workers:
            worker.process.start(wait_to_start=serially)
        first = workers[0].process.description
        for worker in workers:
            described = worker.process.description
            if not described.is_single:
                raise ConfigurationError(
                    "an environment is batched, or gives tensors; expected single ones with arrays"
                )
            if (described.time_step_spec, described.env_info_spec) != (first.time_step_spec, first.env_info_spec):
                raise ConfigurationError(
                    f"environment {worker.slot} has other specs than the first: {described.time_step_spec} and "
                    f"{described.env_info_spec}; expected {first.time_step_spec} and {first.env_info_spec}"
                )

    def _reset(self) -> TimeStep:
        self._require_open()
        self._errors = [None] * self.batch_size
        for worker in (*self._workers, *self._spares):
            worker.begin()
        return self._together([self._first(index) for index in range(self.batch_size)])

    def _step(self, action: nest.Nest) -> TimeStep:
        self._require_open()
        n = self.batch_size
        actions = nest.unstack(as_action(self._described.action_spec, action, (n,)), n)
        if self._blocking:
            return self._together(
                [self._acted(index, self._ask(index, each), each) for index, each in enumerate(actions)]
            )
        asked = [self._ask(index, each) for index, each in enumerate(actions)]
        return self._together([self._acted(index, asked[index], each) for index, each in enumerate(actions)])

    def _ask(self, index: int, action: nest.Nest) -> Promise | None:
        """What an environment makes of an action; None if its episode is over and it does nothing with it."""
        if self._last[index].is_last():
            return None
        return self._workers[index].process.call("step", action)

    def _acted(self, index: int, promise: Promise | None, action: nest.Nest) -> TimeStep:
        self._errors[index] = None
        if promise is None:
            return self._first(index)
        try:
            return promise()
        except WorkerFailed as error:
            self._errors[index] = str(error)
            self._replace(index, error)
            last = self._last[index]
            reward = self._described.reward_spec.numpy_zeros()
            return truncation(last.observation, action, reward, self._described.reward_spec, env_info=last.env_info)

    def _first(self, index: int) -> TimeStep:
        crashes = 0
        while True:
            try:
                return self._workers[index].take_first()
            except WorkerFailed as error:
                crashes += 1
                if crashes == MAX_CRASHES:
                    raise WorkerFailed(
                        f"environment {index} broke {crashes} times before a first step; the last time: {error}"
                    ) from error
                self._replace(index, error)

    def _together(self, steps: list[TimeStep]) -> TimeStep:
        """The steps of all as one; those that are over begin again."""
        self._last = steps
        stacked: TimeStep = nest.stack(steps)
        crashed = np.array([error is not None for error in self._errors])
        if not self._blocking:
            for index in np.flatnonzero(stacked.is_last() & ~crashed).tolist():
                self._relieve(index, self._workers[index])
        env_id = np.arange(len(steps), dtype=np.int32)
        return stacked._replace(env_id=env_id, env_info=_with_crashed(stacked.env_info, crashed)).to_tensors()

    def _relieve(self, index: int, worker: _Worker) -> None:
        """Let a worker begin an episode behind the spare ones, and the foremost of those, or itself, take the place."""
        worker.begin()
        self._spares.append(worker)
        self._workers[index] = self._spares.popleft()

    def _replace(self, index: int, error: WorkerFailed) -> None:
        broken = self._workers[index]
        _log.warning("environment %d broke, and gets another process: %s", index, error)
        broken.process.close(grace_s=0)
        worker = self._made(broken.slot, broken.constructor)
        worker.process.start(wait_to_start=False)
        self._relieve(index, worker)

    def _made(self, slot: int, constructor: Callable[..., AlfEnvironment]) -> _Worker:
        return _Worker(slot, constructor, None if self._seeds is None else next(self._seeds))

    def _require_open(self) -> None:
        if self._closed:
            raise Closed("this environment is closed")


class _Worker:
    """A process, and the first step of its next episode, where that was asked for."""

    def __init__(self, slot: int, constructor: Callable[..., AlfEnvironment], seed: int | None) -> None:
        self.slot = slot
        self.constructor = constructor
        self.process = ProcessEnvironment(constructor, slot, seed)
        self._first: Promise | None = None

    def begin(self) -> None:
        self._first = self.process.reset(blocking=False)

    def take_first(self) -> TimeStep:
        if self._first is None:
            self.begin()
        assert self._first is not None
        first, self._first = self._first, None
        return first()


def _with_crashed(env_info: Any, crashed: Any) -> dict[str, Any]:
    return {**(env_info or {}), CRASHED: crashed}
