"""Every test here runs with torch's tensors, where torch is installed, and with NumPy's."""

from __future__ import annotations

import importlib.util
from collections.abc import Generator

import psutil
import pytest
from pluriverse.adapters.alf import tensors


@pytest.fixture(autouse=True, params=["torch", "numpy"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    """The name of the library that tensors are of."""
    if request.param == "torch" and importlib.util.find_spec("torch") is None:
        pytest.skip("torch isn't installed")
    monkeypatch.setenv(tensors.VARIABLE, request.param)
    tensors.chosen.cache_clear()
    yield request.param
    tensors.chosen.cache_clear()


@pytest.fixture
def no_process_is_left() -> Generator[None]:
    """Every process that a test starts has ended with it, and was waited for: there are no zombies either."""
    before = set(psutil.Process().children(recursive=True))
    yield
    left = set(psutil.Process().children(recursive=True)) - before
    assert not left
