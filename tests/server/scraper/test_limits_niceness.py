from __future__ import annotations

import os
import subprocess

import psutil
import pytest
from pluriverse_server.scraper.limits import can_raise_priority, raise_priority
from support.program import until


def test_asking_whether_niceness_can_be_taken_back_changes_none() -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    can_raise_priority()
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


def test_hurried_processes_are_as_important_as_any() -> None:
    if not can_raise_priority():
        pytest.skip("niceness can't be taken back here")
    with subprocess.Popen(["nice", "-n", "10", "sleep", "600"]) as process:
        try:
            until(psutil.Process(process.pid).nice, lambda niceness: niceness >= 10)
            raise_priority([process.pid, 2**22 + 1])
            assert psutil.Process(process.pid).nice() == 0
        finally:
            process.kill()
