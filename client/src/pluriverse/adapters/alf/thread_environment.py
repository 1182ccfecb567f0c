"""``ThreadEnvironment``: one environment as a batch of one, in a thread of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from pluriverse.errors import ConfigurationError

from . import nest
from .alf_environment import AlfEnvironment, DescribedEnvironment, Description
from .data_structures import TimeStep
from .nest import Nest
from .tensor_specs import as_action

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


class ThreadEnvironment(DescribedEnvironment):
    """Make, step and close an environment in one thread, which some simulators insist on.

    It takes and returns tensors with a batch dimension of 1. What the environment raises is raised here.
    """

    def __init__(self, env_constructor: Callable[[], AlfEnvironment]) -> None:
        """Call ``env_constructor`` in the thread; raise ``ConfigurationError`` if the environment is batched."""
        self._thread = ThreadPoolExecutor(1, "alf-environment")
        try:
            self._env = self._run(env_constructor)
            description = self._run(Description.of, self._env)
        except BaseException:
            self._thread.shutdown()
            raise
        super().__init__(dataclasses.replace(description, batched=True, is_tensor_based=True))
        if description.batched:
            self.close()
            raise ConfigurationError("ThreadEnvironment runs a single environment; a batched one needs no thread")

    def seed(self, seed: Any) -> None:
        """Seed the episodes that the next ``reset`` begins."""
        self._run(self._env.seed, seed)

    def render(self, mode: str = "rgb_array") -> Any:
        """Return the picture, or show it."""
        return self._run(self._env.render, mode)

    def get_info(self) -> list[Any]:
        """Return all that is known of the last step: a list of one."""
        return [self._run(self._env.get_info)]

    def close(self) -> None:
        """Close the environment and end the thread; may be called repeatedly."""
        if not self._closed:
            try:
                self._run(self._env.close)
            finally:
                self._closed = True
                self._thread.shutdown()

    def _reset(self) -> TimeStep:
        return nest.stack([self._run(self._env.reset)]).to_tensors()

    def _step(self, action: Nest) -> TimeStep:
        checked = as_action(self.action_spec(), action, (1,))
        return nest.stack([self._run(self._env.step, nest.unstack(checked, 1)[0])]).to_tensors()

    def _run(
        self, function: Callable[Parameters, Returned], *arguments: Parameters.args, **options: Parameters.kwargs
    ) -> Returned:
        self._require_open()
        return self._thread.submit(function, *arguments, **options).result()
