"""EnvPool with dm_env's interface: time steps whose fields are arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from pluriverse.errors import needed

from .pool import EnvPool
from .spec import state_tuple

with needed("dm_env", extra="dm_env"):
    from dm_env import Environment, TimeStep

if TYPE_CHECKING:

    class _Environment:
        """Hides methods whose types differ from an EnvPool's."""

else:
    _Environment = Environment


class DMEnvPool(EnvPool, _Environment):
    """``reset`` and ``step`` return a TimeStep; its observation is the named tuple ``spec.State``.

    As in EnvPool, and unlike dm_env, discounts are 0 at every end of an episode, also at a limit of steps.
    """

    def observation_spec(self) -> Any:
        """Return a named tuple of the specs of one environment."""
        return self.spec.observation_spec()

    def action_spec(self) -> Any:
        """Return the spec of one environment's action, or a dict of the specs of its parts."""
        return self.spec.action_spec()

    def _to(self, state: Mapping[str, NDArray[Any]], reset: bool) -> Any:
        del reset
        # dm_env's StepType is for one environment; here it is an array of their numbers.
        step_type: Any = state["step_type"]
        return TimeStep(step_type, state["reward"], state["discount"], state_tuple(state))
