"""Tensors, torch's where torch is installed, else NumPy's arrays; and nests of them, which dm-tree goes through.

A nest is a leaf, or a dict, list, tuple or named tuple of nests. Leaves of a dict come in the order of its sorted keys.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pluriverse.errors import needed

with needed("dm-tree", extra="alf"):
    tree: Any = importlib.import_module("tree")  # it has no types

Array = NDArray[Any]
Tensor = Any
"""A tensor of torch, which may not be installed, or an array of NumPy."""
Nest = Any


@functools.cache
def _torch() -> Any:
    return importlib.import_module("torch") if importlib.util.find_spec("torch") else None


def tensor(array: Array | np.generic) -> Tensor:
    """Return a tensor of an array; they may share memory."""
    if (torch := _torch()) is None:
        return np.asarray(array)
    # as_tensor takes three times as long over an array.
    return torch.from_numpy(array) if isinstance(array, np.ndarray) else torch.as_tensor(array)


def as_array(value: Any) -> Array:
    """Return an array of a tensor, or of anything that NumPy makes arrays of; they may share memory."""
    torch: Any = sys.modules.get("torch")
    return value.detach().cpu().numpy() if torch and isinstance(value, torch.Tensor) else np.asarray(value)


def unstack(batch: Nest, n: int) -> list[Nest]:
    """Return the ``n`` nests of a batch."""
    if not tree.is_nested(batch):
        return list(batch)
    leaves = tree.flatten(batch)
    return [tree.unflatten_as(batch, [leaf[index] for leaf in leaves]) for index in range(n)]
