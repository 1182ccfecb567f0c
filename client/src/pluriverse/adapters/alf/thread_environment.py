"""``ThreadEnvironment``: one environment as a batch of one, in a thread of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pluriverse.errors import ActionError
from pluriverse.forks import Owner

from . import nest
from .alf_environment import AlfEnvironment
from .alf_wrappers import BatchedTensorWrapper
from .nest import Nest
from .tensor_specs import as_action


class ThreadEnvironment(BatchedTensorWrapper):
    """Make, step and close an environment in one thread, which some simulators insist on.

    It takes and returns tensors with a batch dimension of 1, which an action may lack. What the environment raises
    is raised here.
    """

    def __init__(self, env_constructor: Callable[[], AlfEnvironment]) -> None:
        """Call ``env_constructor`` in the thread; raise ``Refused`` if the environment is batched."""
        self._owner = Owner("this environment")
        self._thread = ThreadPoolExecutor(1, "alf-environment")
        try:
            self._thread.submit(self._make, env_constructor).result()
        except BaseException:
            self._thread.shutdown()
            raise

    def close(self) -> None:
        """Close the environment and end the thread; may be called repeatedly."""
        if not self._closed and self._owner.is_here:
            try:
                super().close()
            finally:
                self._closed = True
                self._thread.shutdown()

    def _make(self, env_constructor: Callable[[], AlfEnvironment]) -> None:
        env = env_constructor()
        try:
            super().__init__(env)
        except BaseException:
            env.close()
            raise

    def _checked(self, action: Nest) -> Nest:
        try:
            return super()._checked(action)
        except ActionError:
            # As in ALF, the one action may come without its batch dimension.
            with contextlib.suppress(ActionError):
                return nest.batch_nested_tensor(as_action(self.action_spec(), action))
            raise

    def _call(self, name: str, *arguments: Any) -> Any:
        self._owner.require()
        self._require_open()
        return self._thread.submit(super()._call, name, *arguments).result()
