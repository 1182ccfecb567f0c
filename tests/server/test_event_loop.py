"""The clock of a loop whose process is stopped for a while."""

import asyncio
import os
import signal
import subprocess
import sys
import time

import pytest
from pluriverse_server import event_loop
from pluriverse_server.event_loop import MAX_LATE_S

STOPPED_S = 2.0

# By then the script waits for what comes in.
WAITING_S = 0.3

# Says what came in, and how long that took by the loop's clock and by the machine's; within a second of the first.
SCRIPT = """
import asyncio, os, time
from pluriverse_server import event_loop

async def main():
    loop = asyncio.get_running_loop()
    began, began_at = loop.time(), time.monotonic()
    print("ready", flush=True)
    async with asyncio.timeout(1.0):
        line = await reader(loop)
    print(line, loop.time() - began, time.monotonic() - began_at)

async def reader(loop):
    stream = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), open(0, "rb", buffering=0))
    return (await stream.readline()).decode().strip()

event_loop.run(main())
"""


@pytest.mark.parametrize("before_s", [0.0, WAITING_S], ids=["before it waits", "while it waits"])
def test_time_in_which_the_process_was_stopped_is_not_counted_and_what_came_meanwhile_is_heard(before_s: float) -> None:
    with subprocess.Popen([sys.executable, "-c", SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(before_s)
        os.kill(process.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        process.stdin.write(b"hello\n")
        process.stdin.flush()
        time.sleep(STOPPED_S)
        os.kill(process.pid, signal.SIGCONT)
        word, counted, passed = process.stdout.readline().split()
    assert word == b"hello"
    assert float(passed) >= STOPPED_S
    assert float(counted) < 1.0


def test_clock_never_goes_back_and_leaves_out_only_long_gaps() -> None:
    async def main() -> list[float]:
        loop = asyncio.get_running_loop()
        times = [loop.time()]
        for gap_s in (MAX_LATE_S / 2, MAX_LATE_S * 1.5):
            time.sleep(gap_s)  # noqa: ASYNC251 - the loop gets no CPU
            times.append(loop.time())
            await asyncio.sleep(0)
            times.append(loop.time())
        return times

    times = event_loop.run(main())
    assert times == sorted(times)
    assert times[-1] - times[0] == pytest.approx(MAX_LATE_S / 2, abs=0.2)


def test_waiting_is_counted_however_long() -> None:
    async def main() -> float:
        loop = asyncio.get_running_loop()
        began = loop.time()
        await asyncio.sleep(2 * MAX_LATE_S)
        return loop.time() - began

    assert event_loop.run(main()) == pytest.approx(2 * MAX_LATE_S, abs=0.2)
