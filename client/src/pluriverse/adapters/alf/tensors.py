"""What tensors are here: torch's where torch is installed, NumPy's arrays elsewhere.

Environments work with NumPy; only what leaves a batched one becomes tensors. ``PLURIVERSE_TENSORS`` (``torch`` or
``numpy``) chooses one where both would do. It is asked once, when the first tensor is made.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import sys
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from pluriverse.errors import ConfigurationError

VARIABLE: Final = "PLURIVERSE_TENSORS"

Array = NDArray[Any]
Tensor = Any


class Tensors(Protocol):
    """A library of tensors."""

    name: str

    def tensor(self, array: Array) -> Tensor:
        """A tensor of an array; they may share memory."""
        ...

    def dtype(self, name: str) -> Any:
        """The library's dtype of NumPy's name, such as ``"float32"``."""
        ...


class _NumpyTensors:
    name = "numpy"

    def tensor(self, array: Array) -> Tensor:
        return np.asarray(array)

    def dtype(self, name: str) -> Any:
        return np.dtype(name)


class _TorchTensors:
    name = "torch"

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def tensor(self, array: Array) -> Tensor:
        return self._torch.as_tensor(array)

    def dtype(self, name: str) -> Any:
        return getattr(self._torch, name)


@functools.cache
def chosen() -> Tensors:
    """The library that is in use.

    Raises:
        ConfigurationError: ``PLURIVERSE_TENSORS`` names none, or one that isn't installed.
    """
    name = os.environ.get(VARIABLE, "")
    if name not in ("", "torch", "numpy"):
        raise ConfigurationError(f"{VARIABLE} is {name!r}; expected torch or numpy")
    if name == "numpy" or (not name and importlib.util.find_spec("torch") is None):
        return _NumpyTensors()
    try:
        return _TorchTensors(importlib.import_module("torch"))
    except ImportError as error:
        raise ConfigurationError(
            f"tensors were to be torch's, which isn't there ({error}); install it with: pip install torch, "
            f"or set {VARIABLE}=numpy"
        ) from error


def as_array(value: Any) -> Array:
    """An array of a tensor of either library, or of anything that NumPy makes arrays of; they may share memory."""
    return value.detach().cpu().numpy() if is_torch(value) else np.asarray(value)


def is_torch(value: Any) -> bool:
    """Whether it is a tensor of torch; doesn't load torch to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_tensor(value: Any) -> bool:
    """Whether it is a tensor of the library in use."""
    return is_torch(value) if chosen().name == "torch" else isinstance(value, np.ndarray)


def dtype_name(dtype: Any) -> str:
    """NumPy's name of a dtype of NumPy or torch.

    Raises:
        ConfigurationError: it is none.
    """
    try:
        return np.dtype(str(dtype).removeprefix("torch.") if type(dtype).__module__ == "torch" else dtype).name
    except TypeError as error:
        raise ConfigurationError(f"{dtype!r:.80} is no dtype; expected one such as 'float32'") from error
