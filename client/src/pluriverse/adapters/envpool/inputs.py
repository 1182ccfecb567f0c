"""Reads what ``send`` is called with as an action for each environment; checks all before any is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from pluriverse.errors import ActionError, Misuse

from .spec import ENV_ID, PLAYERS_ENV_ID, PoolSpec


class Inputs:
    """Reads the actions of one EnvPool."""

    def __init__(self, spec: PoolSpec) -> None:
        """``spec`` has the shapes of actions."""
        self._n = spec.config.num_envs
        self._everyone = list(range(self._n))
        self._parts = {name: part.of_one for name, part in spec.action_parts.items()}
        self._discrete = spec.kind == "discrete"

    def read(self, action: Any, env_id: Any) -> dict[int, Any]:
        """Return the action of each environment, in the order of ``env_id``; None: all of them.

        ``action`` is an array with a row for each environment, of whole numbers of any type; or a dict of int32 arrays
        with the spec's names, which may have ``env_id`` itself.

        Raises:
            Misuse: an environment is named twice, or doesn't exist.
            ActionError: a dtype, a shape or a name is wrong.
        """
        if isinstance(action, Mapping):
            named = _flat(cast("Mapping[str, Any]", action))
            env_id = named.pop(ENV_ID, None) if env_id is None else env_id
            players = named.pop(PLAYERS_ENV_ID, None)
            if named.keys() != self._parts.keys():
                raise ActionError(
                    f"the action has {', '.join(map(repr, named)) or 'nothing'}; "
                    f"expected {', '.join(map(repr, self._parts))}, and 'env_id' where it isn't of all environments"
                )
            indices = self.indices(env_id)
            if players is not None and self.indices(players) != indices:
                raise Misuse("players.env_id differs from env_id; each environment has one player, which is its number")
            parts = {name: _exact(name, value, (len(indices), *self._parts[name])) for name, value in named.items()}
        else:
            if len(self._parts) > 1:
                raise ActionError(f"the action is one array; expected a dict of {', '.join(map(repr, self._parts))}")
            indices = self.indices(env_id)
            parts = {"action": _whole(action, (len(indices), *self._parts["action"]))}
        return dict(zip(indices, self._rows(parts), strict=True))

    def indices(self, env_id: Any) -> Sequence[int]:
        """Return the indices of ``env_id``, None: all; raise ``Misuse`` if one is named twice, or doesn't exist."""
        if env_id is None:
            return self._everyone
        array = np.asarray(env_id)
        if array.ndim > 1 or array.dtype.kind not in "iu":
            raise Misuse(f"env_id is {env_id!r:.80}; expected integers of 0 to {self._n - 1}")
        indices = cast("list[int]", array.reshape(-1).tolist())
        if not indices or min(indices) < 0 or max(indices) >= self._n:
            raise Misuse(f"env_id is {indices!r:.80}; expected some of 0 to {self._n - 1}")
        if len(set(indices)) < len(indices):
            raise Misuse(f"env_id is {indices!r:.80}; each environment can be named once in a call")
        return indices

    def _rows(self, parts: Mapping[str, NDArray[Any]]) -> Sequence[Any]:
        if self._discrete:
            return cast("list[int]", parts["action"].tolist())
        if len(parts) == 1:
            return list(parts["action"])
        short = {name.partition(".")[2]: rows for name, rows in parts.items()}
        return [dict(zip(short, row, strict=True)) for row in zip(*short.values(), strict=True)]


def _flat(nested: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return ``{"action": {"keys": …}}`` as ``{"action.keys": …}``."""
    flat: dict[str, Any] = {}
    for name, value in nested.items():
        if isinstance(value, Mapping):
            flat |= _flat(cast("Mapping[str, Any]", value), f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


def _exact(name: str, value: Any, shape: tuple[int, ...]) -> NDArray[np.int32]:
    array = np.asarray(value)
    if array.dtype != np.int32:
        raise ActionError(f"{name!r} is an array of {array.dtype}; expected int32 within a dict")
    return cast("NDArray[np.int32]", _shaped(name, array, shape))


def _whole(value: Any, shape: tuple[int, ...]) -> NDArray[np.int32]:
    array = np.asarray(value)
    whole = array
    if array.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            whole = array.astype(np.int32)
    if array.dtype.kind not in "iuf" or (whole is not array and not np.array_equal(whole, array)):
        raise ActionError(f"the action is an array of {array.dtype}: {value!r:.80}; expected whole numbers")
    return cast("NDArray[np.int32]", _shaped("action", whole, shape))


def _shaped(name: str, array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    if array.shape != shape:
        raise ActionError(f"{name!r} is of shape {array.shape}; expected {shape}: a row for each environment")
    return array
