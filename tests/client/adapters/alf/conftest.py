"""Every test here runs with torch's tensors, where torch is installed, and with NumPy's."""

import importlib.util

import pytest
from pluriverse.adapters.alf import tensors


@pytest.fixture(autouse=True, params=["torch", "numpy"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "torch" and importlib.util.find_spec("torch") is None:
        pytest.skip("torch isn't installed")
    if request.param == "numpy":
        monkeypatch.setattr(tensors, "_torch", lambda: None)
    return request.param
