"""Both drivers run the same tests."""

import gc
import os
import threading
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from pluriverse.vnc.options import Implementation

# A thread is gone from /proc a moment after it was joined.
GONE_S = 60.0


@pytest.fixture(params=["native", "python"])
def implementation(request: pytest.FixtureRequest) -> Implementation:
    if request.param == "native":
        pytest.importorskip("pluriverse.rfb._native", reason="the native part was not built")
    return request.param


def _threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - pathlib would open a descriptor more


@pytest.fixture
def nothing_left() -> Generator[None]:
    """Fails if the test leaves a thread or a descriptor."""
    # What is there already takes long to be looked through.
    gc.freeze()
    threads, descriptors = _threads(), _descriptors()
    yield
    gc.collect()
    gc.unfreeze()
    deadline = time.monotonic() + GONE_S
    while _threads() > threads and time.monotonic() < deadline:
        time.sleep(0.005)
    assert _threads() <= threads, [thread.name for thread in threading.enumerate()]
    assert _descriptors() <= descriptors
