"""A static program, which nothing can be preloaded into, stands still between steps all the same."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pluriverse_server.lockstep import Advance, FrozenClock
from support.waiting import until

COUNTER = '#include <unistd.h>\nint main() { for (;;) { write(1, ".", 1); usleep(1000); } }'


def test_static_program_stands_still_between_steps(
    compiled: Callable[..., str], start: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    process = start([compiled(COUNTER, "-static")])
    output = tmp_path / "output"
    until(lambda: output.stat().st_size)
    pids = [process.pid]
    with FrozenClock(lambda: pids) as clock:
        time.sleep(0.05)
        before = output.stat().st_size
        time.sleep(0.2)
        assert output.stat().st_size == before
        for _ in range(5):
            assert clock.advance(0.02) is Advance.DONE
        assert clock.elapsed == pytest.approx(0.1)
        assert output.stat().st_size > before
        process.kill()
        process.wait()
        assert clock.advance(0.02) is Advance.ENDED
