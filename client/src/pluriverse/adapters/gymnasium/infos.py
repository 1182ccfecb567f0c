"""What else is known of a step: one environment's as a dictionary, several environments' as one of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np

from pluriverse.adapters.player import StepResult


def info_of(result: StepResult, *, measured: bool) -> dict[str, Any]:
    """Return a result's info, with ``lost``: whether the remote broke. Not ``measured``: only what the program reports.

    ``terminated`` and ``truncated`` are left out: a step returns them.
    """
    info = result.info if measured else result.reported_info
    info.pop("terminated", None)
    info.pop("truncated", None)
    info["lost"] = result.lost
    return info


def batch_infos(n: int, infos: Iterable[tuple[int, Mapping[str, Any]]]) -> dict[str, Any]:
    """The infos of some of ``n`` environments as Gymnasium's vectors have them.

    Each key has an array of ``n``, and ``_key`` a mask of which environments have it. Numbers and booleans become
    arrays of their type, arrays are stacked, dictionaries are nested. All else, observations of ends, and values whose
    types differ between environments, as a program's may, are objects; where there is none, None.
    """
    pairs = list(infos)
    batch: dict[str, Any] = {}
    for key in dict.fromkeys(key for _, info in pairs for key in info):
        indices = [index for index, info in pairs if key in info]
        batch[key] = _array(n, key, indices, [info[key] for _, info in pairs if key in info])
        batch[f"_{key}"] = mask = np.zeros(n, np.bool_)
        mask[indices] = True
    return batch


def _array(n: int, key: str, indices: list[int], items: list[Any]) -> Any:
    kind = cast("Any", type(items[0]))
    if any(type(item) is not kind for item in items) or key == "final_obs":
        return _objects(n, indices, items)
    if kind is dict:
        return batch_infos(n, zip(indices, items, strict=True))
    if _is_number(kind):
        try:
            return _filled(np.zeros(n, kind), indices, items)
        except OverflowError:
            pass  # an integer that NumPy has none for
    if kind is np.ndarray and len({(item.shape, item.dtype) for item in items}) == 1:
        return _filled(np.zeros((n, *items[0].shape), items[0].dtype), indices, items)
    return _objects(n, indices, items)


def _is_number(kind: Any) -> bool:
    return kind in (bool, int, float) or issubclass(kind, np.number)


def _filled(array: Any, indices: list[int], items: list[Any]) -> Any:
    array[indices] = items
    return array


def _objects(n: int, indices: list[int], items: list[Any]) -> Any:
    # One by one: NumPy would look into sequences among them.
    array = np.empty(n, object)
    for index, item in zip(indices, items, strict=True):
        array[index] = item
    return array
