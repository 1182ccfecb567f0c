"""Which library tensors are of."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from pluriverse.adapters.alf import tensors
from pluriverse.errors import ConfigurationError


def test_variable_chooses_the_library(library: str) -> None:
    tensor = tensors.chosen().tensor(np.arange(3, dtype=np.float32))
    assert type(tensor).__module__ == library
    assert tensors.is_torch(tensor) == (library == "torch")
    assert tensors.chosen().dtype("float32") == tensor.dtype
    assert tensors.as_array(tensor).tolist() == [0, 1, 2]
    assert tensors.as_array([True, False]).dtype == np.bool_


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool", "float32"])
def test_dtypes_have_numpys_names(dtype: str) -> None:
    assert tensors.dtype_name(tensors.chosen().dtype(dtype)) == dtype
    assert tensors.dtype_name(np.dtype(dtype)) == dtype
    assert tensors.dtype_name(dtype) == dtype


def test_what_is_no_dtype_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no dtype"):
        tensors.dtype_name("float31")


def test_unknown_library_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tensors.VARIABLE, "jax")
    tensors.chosen.cache_clear()
    with pytest.raises(ConfigurationError, match="expected torch or numpy"):
        tensors.chosen()


def test_absent_torch_says_what_mends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setenv(tensors.VARIABLE, "torch")
    tensors.chosen.cache_clear()
    with pytest.raises(ConfigurationError, match="pip install torch"):
        tensors.chosen()


def test_tensor_of_torch_becomes_an_array_whichever_library_is_chosen() -> None:
    torch = pytest.importorskip("torch")
    assert tensors.as_array(torch.ones(2, requires_grad=True)).tolist() == [1, 1]


def test_importing_the_interface_loads_neither_torch_nor_gymnasium_nor_remotes(library: str) -> None:
    code = """
import sys, pluriverse.adapters.alf
print(sorted({'torch', 'gymnasium', 'cv2', 'docker', 'websockets'} & sys.modules.keys()))
"""
    environment = {**os.environ, tensors.VARIABLE: library}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
