"""Remotes as one EnvPool, with the interfaces of Gymnasium and of dm_env."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from dm_env import Environment, TimeStep
from gymnasium import Env
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from pluriverse.adapters.info import numbers
from pluriverse.errors import ActionError, Misuse

from .arrays import flat, nested, state_tuple
from .pool import RemotePool
from .spec import STATE, EnvSpec

if TYPE_CHECKING:

    class _Gymnasium:
        """Hides methods and attributes whose types differ from an EnvPool's."""

    _DmEnv = _Gymnasium
else:
    _DmEnv = Environment

    class _Gymnasium(VectorEnv, Env):
        """Wrappers ask for either of them."""


class EnvPool(RemotePool):
    """What the interfaces have in common: send actions to some environments, receive from those that answer first."""

    def __init__(self, spec: EnvSpec) -> None:
        """See ``RemotePool``."""
        super().__init__(spec)
        self.spec: Any = spec

    def __len__(self) -> int:
        """Return the number of environments."""
        return self._spec.config.num_envs

    @property
    def config(self) -> dict[str, Any]:
        """The options by EnvPool's names, then ours."""
        return self._spec.config._asdict()

    @property
    def all_env_ids(self) -> NDArray[np.int32]:
        """0 to ``num_envs`` - 1, int32."""
        return np.arange(len(self), dtype=np.int32)

    @property
    def is_async(self) -> bool:
        """Whether ``recv`` returns before all environments have answered."""
        return not self._waits_for_all

    def send(self, action: Any, env_id: Any = None) -> None:
        """Act on the environments of ``env_id``, by default all; doesn't wait.

        ``action`` is an array with a row for each environment, of whole numbers of any type; or a dict of int32 arrays
        with the spec's names, which may have ``env_id`` itself. Where an episode is over, or none has begun, the action
        is ignored, and the next episode begins.

        Raises:
            Misuse: an environment doesn't exist, is named twice, or has been sent to since it was received.
            ActionError: a dtype, a shape, a name or a number is wrong; nothing was sent to any.
        """
        self._send(self._from(action, env_id))

    def recv(self, reset: bool = False) -> Any:
        """Wait for ``batch_size`` environments, whichever answer first; in synchronous mode for all asked, in order.

        ``reset`` leaves out what a reset doesn't return.

        Raises:
            Misuse: fewer than that were asked.
            RemoteFailed: they didn't answer within ``core.RECEIVE_S`` seconds.
        """
        return self._to(dict(zip(STATE, self._recv(), strict=True)), reset)

    def step(self, action: Any, env_id: Any = None) -> Any:
        """Call ``send`` and ``recv``; after a call that was interrupted, as by Ctrl-C, ``recv`` alone."""
        with self.core.whole:
            if not self._owes:
                self.send(action, env_id)
            self._owes = True
        return self.recv()

    def async_reset(self) -> None:
        """Begin an episode in every environment; doesn't wait."""
        self._reset(self.all_env_ids)

    def reset(self, env_id: Any = None) -> Any:
        """Begin new episodes in the environments of ``env_id``, all where it is None, and ``recv``.

        What they have been sent and was not received is given up. In the asynchronous mode this waits for
        ``batch_size`` environments only, whichever they are; ``async_reset`` and ``recv`` say so.

        Raises:
            Misuse: an environment doesn't exist, or is named twice; or too few have been asked, see ``recv``.
        """
        with self.core.whole:
            self._reset(self.all_env_ids if env_id is None else env_id)
            self._owes = True
        return self.recv(reset=True)

    def close(self) -> None:
        """Disconnect, and remove the remotes that were started; may be called repeatedly."""
        self.core.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._spec.config.task!r}, num_envs={len(self)})"

    def _from(self, action: Any, env_id: Any = None) -> list[Any]:
        """Return what ``_send`` takes."""
        if isinstance(action, Mapping):
            named = flat(cast("Mapping[str, Any]", action))
            for name, value in named.items():
                if np.asarray(value).dtype != np.int32:
                    raise ActionError(f"{name!r} is of {np.asarray(value).dtype}; expected int32 within a dict")
        else:
            named = {"action": _whole(action)}
        if env_id is not None:
            named["env_id"] = env_id
        named.setdefault("env_id", self.all_env_ids)
        named.setdefault("players.env_id", named["env_id"])
        if named.keys() != set(self._action_keys):
            raise ActionError(
                f"the action has {', '.join(map(repr, named))}; expected a dict of {', '.join(self._action_keys)}"
            )
        return [named[name] for name in self._action_keys]

    def _to(self, values: dict[str, Any], reset: bool) -> Any:
        """Return what ``_recv`` returned, by EnvPool's names, as this interface has it."""
        raise NotImplementedError


class GymnasiumEnvPool(EnvPool, _Gymnasium):
    """``reset`` returns (observations, info), ``step`` (observations, rewards, terminated, truncated, info)."""

    metadata: ClassVar[dict[str, Any]] = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, spec: EnvSpec) -> None:
        """See ``RemotePool``."""
        super().__init__(spec)
        self.observation_space: Any = self.spec.observation_space
        self.single_observation_space: Any = self.observation_space
        self.action_space: Any = self.spec.action_space
        self.single_action_space: Any = self.action_space

    @property
    def num_envs(self) -> int:
        """The number of environments."""
        return len(self)

    def reset(self, env_id: Any = None, *, seed: Any = None, options: Mapping[str, Any] | None = None) -> Any:
        """See ``EnvPool.reset``; ``options`` may have ``reset_mask``, bool of shape (num_envs,), instead of ``env_id``.

        Raises:
            Misuse: see ``EnvPool.reset``; or there is no such option, or the mask is invalid.
        """
        if seed is not None:
            warnings.warn("seeds are given to make(…, seed=…); reset(seed=…) is ignored", stacklevel=2)
        mask = self._masked(options or {})
        if mask is not None and env_id is not None:
            raise Misuse("env_id and options['reset_mask'] both say which environments; give one of them")
        return super().reset(env_id if mask is None else mask)

    def _masked(self, options: Mapping[str, Any]) -> NDArray[Any] | None:
        if unknown := sorted(options.keys() - {"reset_mask"}):
            raise Misuse(f"reset knows no options {', '.join(unknown)}; expected reset_mask")
        if options.get("reset_mask") is None:
            return None
        mask = np.asarray(options["reset_mask"])
        if mask.shape != (len(self),) or mask.dtype != np.bool_ or not mask.any():
            raise Misuse(f"reset_mask is {mask!r:.80}; expected a bool for each of {len(self)}, one True at least")
        return np.flatnonzero(mask)

    def _to(self, values: dict[str, Any], reset: bool) -> Any:
        state = nested(values)
        info = state["info"]
        info["elapsed_step"] = state["elapsed_step"]
        truncated = state["trunc"]
        info["pluriverse"] |= numbers([self.core.result(index) for index in info["env_id"].tolist()])
        if reset:
            return state["obs"], info
        return state["obs"], state["reward"], state["done"] & ~truncated, truncated, info


class DMEnvPool(EnvPool, _DmEnv):
    """``reset`` and ``step`` return a TimeStep; its observation is a named tuple, ``observation_spec`` has its fields.

    As in EnvPool, and unlike dm_env, discounts are 0 at every end of an episode, also at a limit of steps.
    """

    def observation_spec(self) -> Any:
        """Return a named tuple of the specs of one environment."""
        return self.spec.observation_spec()

    def action_spec(self) -> Any:
        """Return the spec of one environment's action, or a named tuple of the specs of its parts."""
        return self.spec.action_spec()

    def _to(self, values: dict[str, Any], reset: bool) -> Any:
        del reset
        # dm_env's StepType is for one environment; here it is an array of their numbers.
        return TimeStep(values["step_type"], values["reward"], values["discount"], state_tuple(values))


def _whole(value: Any) -> NDArray[Any]:
    array = np.asarray(value)
    whole = array
    if array.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            whole = array.astype(np.int32)
    if array.dtype.kind not in "iuf" or (whole is not array and not np.array_equal(whole, array)):
        raise ActionError(f"the action is an array of {array.dtype}: {value!r:.80}; expected whole numbers")
    return whole
