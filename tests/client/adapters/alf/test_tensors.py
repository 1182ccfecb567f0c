import subprocess
import sys

import numpy as np
import pytest
from pluriverse.adapters.alf import tensors


def test_tensor_of_torch_becomes_an_array() -> None:
    torch = pytest.importorskip("torch")
    assert tensors.as_array(torch.ones(2, requires_grad=True)).tolist() == [1, 1]


def test_batch_is_taken_apart() -> None:
    assert tensors.unstack({"a": np.array([1, 2]), "b": np.array([3, 4])}, 2) == [{"a": 1, "b": 3}, {"a": 2, "b": 4}]


def test_importing_the_interface_loads_neither_torch_nor_gymnasium() -> None:
    code = "import sys, pluriverse.adapters.alf; print(sorted({'torch', 'gymnasium'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
