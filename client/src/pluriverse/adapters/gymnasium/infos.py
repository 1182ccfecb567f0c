"""What else is known of a step: one environment's as a dictionary, several environments' as one of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

import numpy as np

from pluriverse.adapters.player import Turn

# What is measured here differs from run to run; what a program tells has no such name.
_MEASURED: Final = ("stats.", "diagnostics.", "env_status.", "mask.", "rewarder.", "reward_buffer.")

# A step returns these by themselves.
_SAID_ANYWAY: Final = ("terminated", "truncated")


def info_of(turn: Turn, *, measured: bool) -> dict[str, Any]:
    """A turn's info, with ``lost``: whether the remote broke. Not ``measured``: without lags, counts, ids and times."""
    info = {
        key: value
        for key, value in turn.info.items()
        if key not in _SAID_ANYWAY and (measured or not key.startswith(_MEASURED))
    }
    info["lost"] = turn.lost
    return info


def batch_infos(n: int, infos: Iterable[tuple[int, Mapping[str, Any]]]) -> dict[str, Any]:
    """The infos of some of ``n`` environments as Gymnasium's vectors have them.

    Each key has an array of ``n``, and ``_key`` a mask of which environments have it. Numbers and booleans become
    arrays of their type, arrays are stacked, dictionaries are nested. All else, observations of ends, and values whose
    types differ between environments, as a program's may, are objects; where there is none, None.
    """
    found: dict[str, dict[int, Any]] = {}
    for index, info in infos:
        for key, value in info.items():
            found.setdefault(key, {})[index] = value
    batch: dict[str, Any] = {}
    for key, values in found.items():
        batch[key] = _array(n, key, values)
        mask = np.zeros(n, np.bool_)
        mask[slice(None) if len(values) == n else list(values)] = True
        batch[f"_{key}"] = mask
    return batch


def _array(n: int, key: str, values: dict[int, Any]) -> Any:
    indices, items = list(values), list(values.values())
    kind = cast("Any", type(items[0]))
    if any(type(item) is not kind for item in items) or key == "final_obs":
        return _filled(np.empty(n, object), indices, items)
    if kind is dict:
        return batch_infos(n, values.items())
    if _is_number(kind):
        try:
            return _filled(np.zeros(n, kind), indices, items)
        except OverflowError:
            pass  # an integer that NumPy has none for
    if kind is np.ndarray and len({(item.shape, item.dtype) for item in items}) == 1:
        return _filled(np.zeros((n, *items[0].shape), items[0].dtype), indices, items)
    return _filled(np.empty(n, object), indices, items)


def _is_number(kind: Any) -> bool:
    return kind in (bool, int, float) or issubclass(kind, np.number)


def _filled(array: Any, indices: list[int], items: list[Any]) -> Any:
    for index, item in zip(indices, items, strict=True):
        array[index] = item
    return array
