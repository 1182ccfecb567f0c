"""A display for the kit's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.xvfb import Xvfb, xvfb


@pytest.fixture
def display(monkeypatch: pytest.MonkeyPatch) -> Iterator[Xvfb]:
    """A display that this process' programs draw on."""
    with xvfb() as server:
        monkeypatch.setenv("DISPLAY", server.name)
        yield server
