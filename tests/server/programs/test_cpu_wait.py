import os
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from pluriverse_server.programs import cpu_wait
from pluriverse_server.programs.cpu_wait import BUSY, Patience, cpu_wait_s
from support.waiting import until

SPIN = f"import os; os.sched_setaffinity(0, [{min(os.sched_getaffinity(0))}])\nwhile True: pass"


@pytest.fixture
def rivals() -> Generator[list[int]]:
    """Two processes that share a CPU."""
    spinning = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(2)]
    yield [process.pid for process in spinning]
    for process in spinning:
        process.kill()
        process.wait()


def test_one_of_two_on_a_cpu_waits_and_one_that_sleeps_does_not(rivals: list[int]) -> None:
    with subprocess.Popen(["sleep", "600"]) as sleeping:
        before = [cpu_wait_s(pid) for pid in (rivals[0], sleeping.pid)]
        until(lambda: cpu_wait_s(rivals[0]) - before[0] >= 0.3)
        assert cpu_wait_s(sleeping.pid) - before[1] < 0.1
        sleeping.kill()


def test_where_threads_are_not_counted_the_machine_is(
    rivals: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(cpu_wait, "PROC", tmp_path)
    assert cpu_wait_s(rivals[0]) == 0.0
    (tmp_path / "pressure").mkdir()
    (tmp_path / "pressure/cpu").write_text(
        "some avg10=1.00 avg60=0.00 avg300=0.00 total=1500000\nfull avg10=0 total=0\n"
    )
    assert cpu_wait_s(rivals[0]) == 1.5


def test_patience_ends_with_one_that_sleeps_and_not_yet_with_one_that_waits_for_its_turn(rivals: list[int]) -> None:
    with subprocess.Popen(["sleep", "600"]) as sleeping:
        now = time.monotonic()
        of_sleeping, of_waiting = (Patience(pid, 0.5, now) for pid in (sleeping.pid, rivals[0]))
        began = cpu_wait_s(rivals[0])
        while cpu_wait_s(rivals[0]) - began < 0.3 or time.monotonic() - now < 0.5:
            assert not of_waiting.is_over(now + 0.1)
            assert not of_sleeping.is_over(now + 0.1)
            time.sleep(0.05)
        assert of_sleeping.is_over(now + 0.6)
        assert not of_waiting.is_over(now + 0.6)
        # Even on a machine that is busy for ever.
        assert of_waiting.is_over(now + 0.5 * BUSY + 0.1)
        sleeping.kill()
