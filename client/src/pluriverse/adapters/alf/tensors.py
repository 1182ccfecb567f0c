"""Tensors: torch's where torch is installed, else NumPy's arrays.

Environments work with NumPy; only what leaves a batched one becomes tensors. ``PLURIVERSE_TENSORS`` (``torch`` or
``numpy``) chooses where both would do; it is read once, when the first tensor is made.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

import numpy as np
from numpy.typing import NDArray

from pluriverse.errors import ConfigurationError, Misuse

VARIABLE: Final = "PLURIVERSE_TENSORS"

Array = NDArray[Any]
Tensor = Any
"""A tensor of torch, which may not be installed, or an array of NumPy."""


class Refused(ConfigurationError, Misuse, AssertionError, LookupError, NotImplementedError, ValueError):
    """What is asked for can't be had: ALF asserts some of it, and raises any of these errors for the rest."""


@dataclass(frozen=True, slots=True)
class Library:
    """A library of tensors. ``tensor`` makes one of an array, and may share its memory; ``dtype`` takes a name."""

    name: str
    tensor: Callable[[Array], Tensor]
    dtype: Callable[[str], Any]


@functools.cache
def chosen() -> Library:
    """Return the library in use; raise ``ConfigurationError`` if it is unknown or not installed."""
    name = os.environ.get(VARIABLE, "")
    if name not in ("", "torch", "numpy"):
        raise ConfigurationError(f"{VARIABLE} is {name!r}; expected torch or numpy")
    if name == "numpy" or (not name and importlib.util.find_spec("torch") is None):
        return Library("numpy", np.asarray, np.dtype)
    try:
        torch = importlib.import_module("torch")
    except ImportError as error:
        raise ConfigurationError(
            f"tensors were to be torch's, which isn't there ({error}); install it with: pip install torch, "
            f"or set {VARIABLE}=numpy"
        ) from error

    def tensor(value: Array | Tensor) -> Tensor:
        # as_tensor takes three times as long over an array.
        return torch.from_numpy(value) if isinstance(value, np.ndarray) else torch.as_tensor(value)

    return Library("torch", tensor, functools.partial(getattr, torch))


def as_array(value: object) -> Array:
    """Return an array of a tensor, or of anything that NumPy makes arrays of; they may share memory."""
    return value.detach().cpu().numpy() if is_torch(value) else np.asarray(value)


def is_torch(value: object) -> TypeGuard[Tensor]:
    """Return whether ``value`` is a tensor of torch, without loading torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_tensor(value: object) -> bool:
    """Return whether ``value`` is a tensor of the library in use."""
    return is_torch(value) if chosen().name == "torch" else isinstance(value, np.ndarray)


def dtype_name(dtype: Any) -> str:
    """Return NumPy's name of a dtype of NumPy or torch; raise ``ConfigurationError`` if it is none."""
    try:
        return np.dtype(str(dtype).removeprefix("torch.") if type(dtype).__module__ == "torch" else dtype).name
    except TypeError as error:
        raise ConfigurationError(f"{dtype!r:.80} is no dtype; expected one such as 'float32'") from error
