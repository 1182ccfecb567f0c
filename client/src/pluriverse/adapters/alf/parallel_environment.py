"""``ParallelAlfEnvironment``: several environments as one batch, each in a thread of its own."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from pluriverse import validation
from pluriverse.errors import ConfigurationError
from pluriverse.forks import Owner

from .alf_environment import AlfEnvironment
from .data_structures import TimeStep
from .tensor_specs import TensorSpec, as_action
from .tensors import Nest, tree, unstack


class ParallelAlfEnvironment(AlfEnvironment):
    """Environments of the same specs, all stepped at once; takes and returns tensors.

    Each of ``envs`` is made, stepped and closed in a thread of its own, which some simulators insist on; what it raises
    is raised here.
    """

    def __init__(self, env_constructors: Sequence[Callable[..., AlfEnvironment]]) -> None:
        """Make each environment as ``constructor(env_id=…)``; raise ``ConfigurationError`` unless they are alike."""
        if not env_constructors:
            raise ConfigurationError("no environments; expected one or more")
        self._owner = Owner("this environment")
        self._threads = [ThreadPoolExecutor(1, "alf-environment") for _ in env_constructors]
        self._made = [
            thread.submit(constructor, env_id=index)
            for index, (thread, constructor) in enumerate(zip(self._threads, env_constructors, strict=True))
        ]
        # The answers of a call that was interrupted, as by Ctrl-C.
        self._asked: list[Future[TimeStep]] = []
        try:
            self.envs = [made.result() for made in self._made]
            one, specs = self.envs[0], _specs_of_all(self.envs)
            super().__init__(*specs, one.metadata, batch_size=len(self.envs))
        except BaseException:
            self.close()
            raise

    def seed(self, seed: int | Sequence[int]) -> None:
        """Seed the episodes that the next ``reset`` begins: environment ``i`` gets ``seed + i``, or ``seed[i]``."""
        self._call("seed", validation.seeds(seed, self.batch_size))

    def render(self, mode: str = "rgb_array") -> Any:
        """Return the first environment's picture, or show it."""
        return self._ask(0, "render", mode).result()

    def get_info(self) -> list[Any]:
        """Return what each environment knows of its last step."""
        return self._call("get_info")

    def close(self) -> None:
        """Close the environments and end their threads; may be called repeatedly."""
        if self._closed or not self._owner.is_here:
            return
        self._closed = True
        closing = [thread.submit(_close, made) for thread, made in zip(self._threads, self._made, strict=True)]
        for thread in self._threads:
            thread.shutdown()
        for closed in closing:
            closed.result()

    def _reset(self) -> TimeStep:
        self._asked = [self._ask(index, "reset") for index in range(self.batch_size)]
        return self._together()

    def _step(self, action: Nest) -> TimeStep:
        if not self._asked:
            actions = unstack(as_action(self.action_spec(), action, (self.batch_size,)), self.batch_size)
            self._asked = [self._ask(index, "step", each) for index, each in enumerate(actions)]
        return self._together()

    def _together(self) -> TimeStep:
        concurrent.futures.wait(self._asked)
        asked, self._asked = self._asked, []
        steps = [each.result() for each in asked]
        leaves = [np.stack(column) for column in zip(*map(tree.flatten, steps), strict=True)]
        batch: TimeStep = tree.unflatten_as(steps[0], leaves)
        return batch._replace(env_id=np.arange(self.batch_size, dtype=np.int32)).to_tensors()

    def _call(self, name: str, *arguments: Sequence[Any]) -> list[Any]:
        asked = [self._ask(index, name, *(each[index] for each in arguments)) for index in range(self.batch_size)]
        return [each.result() for each in asked]

    def _ask(self, index: int, name: str, *arguments: Any) -> Future[Any]:
        self._owner.require()
        self._require_open()
        return self._threads[index].submit(getattr(self.envs[index], name), *arguments)


def _specs_of_all(envs: Sequence[AlfEnvironment]) -> tuple[Nest, Nest, TensorSpec, Nest]:
    specs = [(env.observation_spec(), env.action_spec(), env.reward_spec(), env.env_info_spec()) for env in envs]
    for index, env in enumerate(envs):
        if env.batched:
            raise ConfigurationError(f"environment {index} is a batch; expected single ones")
        if specs[index] != specs[0]:
            raise ConfigurationError(f"environment {index} has the specs {specs[index]}; expected {specs[0]}")
    return specs[0]


def _close(made: Future[AlfEnvironment]) -> None:
    if made.exception() is None:
        made.result().close()
