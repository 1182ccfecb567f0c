"""``ThreadEnvironment``: one environment as a batch of one, in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

from pluriverse.errors import Closed, ConfigurationError

from . import nest
from .alf_environment import AlfEnvironment
from .data_structures import TimeStep
from .tensor_specs import TensorSpec, as_action


class ThreadEnvironment(AlfEnvironment):
    """An environment that is made, stepped and closed in one thread, which some simulators insist on.

    Takes and gives tensors with a batch dimension of 1. What it raises is raised here.
    """

    def __init__(self, env_constructor: Callable[[], AlfEnvironment]) -> None:
        """``env_constructor`` is called in the thread.

        Raises:
            ConfigurationError: it makes a batched environment.
        """
        super().__init__()
        self._thread = ThreadPoolExecutor(1, "alf-environment")
        self._closed = False
        try:
            self._env = self._thread.submit(env_constructor).result()
        except BaseException:
            self._thread.shutdown()
            raise
        if self._env.batched:
            self.close()
            raise ConfigurationError("ThreadEnvironment runs a single environment; a batched one needs no thread")

    @property
    def num_tasks(self) -> int:
        """How many tasks there are to do in it."""
        return self._env.num_tasks

    @property
    def task_names(self) -> list[str]:
        """What they are called."""
        return self._env.task_names

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
        """1."""
        return 1

    @property
    def metadata(self) -> dict[str, Any]:
        """What else there is to know."""
        return self._env.metadata

    def env_info_spec(self) -> nest.Nest:
        """The specs of ``TimeStep.env_info``."""
        return self._apply("env_info_spec")

    def observation_spec(self) -> nest.Nest:
        """The specs of observations."""
        return self._apply("observation_spec")

    def action_spec(self) -> nest.Nest:
        """The specs of actions."""
        return self._apply("action_spec")

    def reward_spec(self) -> TensorSpec:
        """The spec of rewards."""
        return self._apply("reward_spec")

    def seed(self, seed: Any) -> None:
        """Seed what comes after the next ``reset``."""
        self._apply("seed", seed)

    def render(self, mode: str = "rgb_array") -> Any:
        """Its picture."""
        return self._apply("render", mode)

    def get_info(self) -> list[Any]:
        """All that is known of the last step: a list of one."""
        return [self._apply("get_info")]

    def close(self) -> None:
        """Close the environment, and end the thread; may be called repeatedly."""
        if not self._closed:
            try:
                self._apply("close")
            finally:
                self._closed = True
                self._thread.shutdown()

    def _reset(self) -> TimeStep:
        return _batch_of_one(self._apply("reset"))

    def _step(self, action: nest.Nest) -> TimeStep:
        checked = as_action(self.action_spec(), action, (1,))
        return _batch_of_one(self._apply("step", nest.unstack(checked, 1)[0]))

    def _apply(self, name: str, *arguments: Any) -> Any:
        if self._closed:
            raise Closed("this environment is closed")
        return self._thread.submit(getattr(self._env, name), *arguments).result()


def _batch_of_one(time_step: TimeStep) -> TimeStep:
    return cast("TimeStep", nest.stack([time_step])).to_tensors()
