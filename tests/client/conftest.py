from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.xvfb import Xvfb, xvfb


@pytest.fixture(scope="session")
def tk_display() -> Iterator[Xvfb]:
    """Give all windows of a process one display: Tk stays connected to each, and exits when one of them ends."""
    with xvfb() as server:
        yield server
