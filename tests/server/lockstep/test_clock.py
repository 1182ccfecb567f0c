"""Real programs that run by a clock of ours, in all of which time is what it says."""

import ctypes
import mmap
import os
import platform
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import psutil
import pytest
from pluriverse_server.lockstep import Advance, PreloadedClock
from support.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.display]

Compile = Callable[..., str]
Start = Callable[..., subprocess.Popen[bytes]]

FRAME_S: Final = 1 / 60
FUTEX: Final = {"x86_64": 202}.get(platform.machine(), 98)
# It has no clock, and takes its time, as an X server.
ANSWERING: Final = """
import os, socket, sys
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1] + "-")
listening.listen()
os.rename(sys.argv[1] + "-", sys.argv[1])
connection, _ = listening.accept()
while asked := connection.recv(1):
    sum(range(20_000))
    connection.sendall(b"!" if asked == b"?" else bytes(2_000_000))
"""
# See native/lockstep/page.h.
STATE_TO_PID: Final = 12
START_S: Final = 60.0


def play_out(clock: PreloadedClock, seconds: float = 20.0) -> None:
    """Let the clock go on until its program has ended."""
    assert clock.await_program(START_S)
    for _ in range(round(seconds / FRAME_S)):
        answer = clock.advance(FRAME_S, patience_s=START_S)
        if answer is Advance.ENDED:
            return
        assert answer is Advance.DONE
    pytest.fail(f"the program did not end in {seconds} s")


def test_turns_of_a_process_change_with_each_and_stay_while_it_waits(clock: PreloadedClock) -> None:
    assert not clock.turns()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as cat:
        assert cat.stdin is not None
        assert cat.stdout is not None
        clock.watch(cat.pid)
        seen = set[bytes]()
        for _ in range(3):
            cat.stdin.write(b"!")
            cat.stdout.read(1)
            until(lambda: psutil.Process(cat.pid).status(), lambda status: status == psutil.STATUS_SLEEPING)
            turns = clock.turns()
            assert turns == clock.turns()
            seen.add(turns)
        assert len(seen) == 3
        assert b"" not in seen
        cat.stdin.close()
        cat.wait()
        assert not clock.turns()


def test_every_wait_takes_its_time_of_the_clock(
    clock: PreloadedClock, compiled: Compile, start: Start, tmp_path: Path
) -> None:
    start(clock.command([compiled("waits.c")]))
    play_out(clock)
    lines = (tmp_path / "output").read_text().splitlines()
    took = {what: int(ms) for what, _, ms in (line.rpartition(" ") for line in lines)}
    assert len(took) == 32
    # One thread signals with the mutex held, which it keeps for another tenth.
    expected = {what: 200 if what == "another thread's signal" else 100 for what in took}
    assert {what: ms for what, ms in took.items() if abs(ms - expected[what]) > 2} == {}


def test_what_is_chance_elsewhere_follows_from_the_seed_and_who_asks_is_counted_where_that_is_wanted(
    compiled: Compile, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = compiled("chance.c")
    said: list[str] = []
    for number, (seed, wanted) in enumerate(((5, ""), (5, "1"), (6, ""))):
        (folder := tmp_path / str(number)).mkdir()
        monkeypatch.setenv("PLURIVERSE_ASKED", wanted)
        with PreloadedClock(folder, seed=seed, frame_time=FRAME_S) as clock:
            start(clock.command([program]))
            play_out(clock)
            asked = {what: times for what, times in clock.asked().items() if what.endswith("by chance")}
        expected = {"getrandom by chance": 1, "/dev/urandom by chance": 2, "time by chance": 1}
        assert asked == (expected if wanted else {})
        said.append((tmp_path / "output").read_text())
    assert said[0] == said[1]
    for file in ("1000 0\n/sys/devices/system/cpu/online: 0", "/proc/cpuinfo: processor\t: 0\n\n", "stat: cpu  0"):
        assert file in said[0]
    total, free = (int(said[0].partition(f"{name}: ")[2].split()[0]) for name in ("MemTotal", "MemFree"))
    assert free == total // 2
    before, after = (one.partition("/sys")[0].split() for one in (said[0], said[2]))
    # Of one processor, which started when the clock did, and a process that has the same number each time.
    assert before[4:10] == ["1000.00", "1000", "1", "0", "1000", "1"]
    assert [a != b for a, b in zip(before, after, strict=True)] == [False, True, True, True, *(9 * [False])]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="others have no such counter")
def test_processors_counter_is_the_clock_and_faults_are_the_programs_own(
    compiled: Compile, start: Start, tmp_path: Path
) -> None:
    program, said = compiled("counter.c"), list[str]()
    for number in range(2):
        (folder := tmp_path / str(number)).mkdir()
        with PreloadedClock(folder, seed=5, frame_time=FRAME_S) as clock:
            start(clock.command([program]))
            play_out(clock)
        said.append((tmp_path / "output").read_text())
    assert said[0] == said[1]
    lines = [line.split(": ") for line in said[0].splitlines()]
    reads = {where: int(value) for where, value in lines if int(value) > 10**9}
    assert list(reads) == ["all blocked", "after faults", "thread", "child", "after what isn't there"]
    # Three seconds on, since each read of the clock that stands takes a little.
    assert {round(value / 1e9, 1) for value in reads.values()} == {1003.0}
    ways = ("fork", "execl", "execle", "execlp", "execv", "execvp", "execve", "system")
    ends = [*([way, "0"] for way in ways), ["fault", "11"], ["signal", "11"]]
    others = [line for line in lines if line[0] not in reads]
    assert others == [["processor", "0"], ["ahead of the clock", "0"], *([["handled", "11"]] * 2), *ends]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="others have no such counter")
def test_program_that_does_not_read_the_processors_counter_is_soon_as_fast_as_it_was(
    clock: PreloadedClock, compiled: Compile, start: Start, tmp_path: Path
) -> None:
    start(clock.command([compiled("counter.c"), "later"]))
    play_out(clock)
    assert (tmp_path / "output").read_text() == "trapped\nfree\n"


COMPUTES = """
#include <math.h>
#include <stdio.h>
int main(void) {
    for (int i = 1; i < 3000; i++) printf("%a %a %a %a\\n", sin(i), exp(i * 1e-3), log(i), pow(i, 0.3));
}
"""


def test_digits_that_a_program_computes_are_those_of_a_processor_without_fma(
    clock: PreloadedClock, compiled: Compile, start: Start, tmp_path: Path
) -> None:
    program = compiled(COMPUTES, "-lm")
    older = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-FMA4"}
    expected = subprocess.run([program], env=older, stdout=subprocess.PIPE, check=True, text=True).stdout
    start(clock.command([program]))
    play_out(clock)
    assert (tmp_path / "output").read_text() == expected


ALLOCATES = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void *allocate(void *unused) { (void)unused; return malloc(50); }
int main(void) {
    pthread_t thread;
    void *others;
    pthread_create(&thread, NULL, allocate, NULL);
    pthread_join(thread, &others);
    printf("%p %p %p\\n%p\\n", malloc(40), malloc(1 << 20), others, (void *)&thread);
}
"""


def test_what_a_program_allocates_is_at_the_same_addresses_where_others_are_not(
    compiled: Compile, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As in Docker.
    monkeypatch.setattr("pluriverse_server.lockstep.clock.can_fix_addresses", lambda: False)
    program, said = compiled(ALLOCATES), list[list[str]]()
    for number in range(3):
        (folder := tmp_path / str(number)).mkdir()
        with PreloadedClock(folder, seed=5, frame_time=FRAME_S) as clock:
            start(clock.command([program]))
            play_out(clock)
        said.append((tmp_path / "output").read_text().splitlines())
    heaps, stacks = ({*each} for each in zip(*said, strict=True))
    assert len(heaps) == 1
    assert len(stacks) > 1


def begin_printing(clock: PreloadedClock, compiled: Compile, start: Start) -> subprocess.Popen[bytes]:
    """Start a program that prints a dot each hundredth of a second."""
    program = compiled('#include <stdio.h>\n#include <unistd.h>\nint main() { while (puts(".") > 0) usleep(10000); }')
    process = start(clock.command(["stdbuf", "-o0", program]))
    assert clock.await_program(START_S)
    return process


def test_program_stands_still_between_steps_and_takes_no_cpu(
    clock: PreloadedClock, compiled: Compile, start: Start, tmp_path: Path
) -> None:
    process = begin_printing(clock, compiled, start)
    for _ in range(60):
        assert clock.advance(FRAME_S) is Advance.DONE
    printed = (tmp_path / "output").stat().st_size
    used = psutil.Process(process.pid).cpu_times()
    time.sleep(0.5)
    assert (tmp_path / "output").stat().st_size == printed
    assert psutil.Process(process.pid).cpu_times()[:2] == used[:2]
    assert clock.elapsed == pytest.approx(1, abs=1e-6)


def test_turn_reaches_who_it_is_for_also_while_one_that_was_killed_still_waits_there(
    clock: PreloadedClock, compiled: Compile, start: Start, tmp_path: Path
) -> None:
    process = begin_printing(clock, compiled, start)
    assert clock.advance(FRAME_S) is Advance.DONE
    with clock.page.open("r+b") as file, mmap.mmap(file.fileno(), 0) as page:
        at = page.find(struct.pack("=ii", process.pid, process.pid)) - STATE_TO_PID
        state = ctypes.c_uint32.from_buffer(page, at)
        waiting = threading.Thread(target=ctypes.CDLL(None).syscall, args=(FUTEX, ctypes.byref(state), 0, state, None))
        waiting.start()
        call, awaited = Path(f"/proc/self/task/{waiting.native_id}/syscall"), f"{FUTEX} {ctypes.addressof(state):#x} "
        until(lambda: call.read_text().startswith(awaited))
        for _ in range(60):
            assert clock.advance(FRAME_S) is Advance.DONE
        waiting.join()
        del state
    assert (tmp_path / "output").stat().st_size > 50


def test_a_signal_of_the_kernels_ends_the_wait_that_its_thread_is_about_to_begin(
    clock: PreloadedClock, compiled: Compile, start: Start, tmp_path: Path
) -> None:
    start(clock.command([compiled("winches.c")]))
    play_out(clock)
    assert (tmp_path / "output").read_text() == "300 of 300, and one that was blocked\n"


def test_all_that_takes_turns_shares_a_processor_and_the_x_server_gets_its_own_back(
    clock: PreloadedClock, compiled: Compile, start: Start
) -> None:
    ours = os.sched_getaffinity(0)
    program = start(clock.command([compiled("int main() { for (;;) usleep(1000); }")]))
    server = start(["sleep", "60"])
    clock.watch(server.pid)
    assert clock.await_program(START_S)
    assert clock.advance(FRAME_S) is Advance.DONE
    assert len(os.sched_getaffinity(program.pid)) == 1
    assert os.sched_getaffinity(server.pid) == os.sched_getaffinity(program.pid)
    clock.close()
    assert os.sched_getaffinity(server.pid) == os.sched_getaffinity(0) == ours


def test_look_finds_the_answer_of_one_without_turns_and_takes_no_turn_while_nothing_was_asked(
    clock: PreloadedClock, compiled: Compile, start: Start, tmp_path: Path
) -> None:
    path = tmp_path / "answering"
    answering = start([sys.executable, "-c", ANSWERING, str(path)])
    until(path.exists)
    start(clock.command([compiled("looks.c"), str(path)]))
    clock.watch(answering.pid)
    play_out(clock)
    said = dict(line.split() for line in (tmp_path / "output").read_text().splitlines())
    ways = ("write", "writev", "send", "sendto", "sendmsg", "syscall")
    assert {way: said[way] for way in ways} == dict.fromkeys(ways, "20")
    assert said["missed"] == "0"
    assert int(said["turns"]) < 5


def test_program_that_computes_for_too_long_is_late_and_makes_up_for_it(
    clock: PreloadedClock, compiled: Compile, start: Start
) -> None:
    program = compiled(
        "#include <signal.h>\n#include <unistd.h>\nvolatile int over;\nvoid end(int s) { over = 1; }\n"
        "unsigned long done;\nint main() { signal(SIGUSR1, end); while (!over) done++; sleep(1); }"
    )
    process = start(clock.command([program]))
    assert clock.await_program(START_S)
    while clock.advance(FRAME_S, patience_s=0.1) is not Advance.LATE:
        continue
    before = clock.elapsed
    assert clock.advance(0.25, patience_s=0.1) is Advance.LATE
    assert clock.elapsed == before
    os.kill(process.pid, 10)
    assert clock.advance(0.25) is Advance.DONE
    assert clock.elapsed > before + 0.5


def test_program_that_has_ended_or_was_killed_says_so_and_children_are_waited_for(
    clock: PreloadedClock, start: Start, tmp_path: Path
) -> None:
    start(clock.command(["sh", "-c", "(sleep 1; echo done) & exit 0"]))
    play_out(clock)
    assert (tmp_path / "output").read_text() == "done\n"
    assert clock.elapsed == pytest.approx(1, abs=0.1)
    process = start(clock.command(["sleep", "1000"]))
    assert clock.await_program(START_S)
    assert clock.advance(FRAME_S) is Advance.DONE
    process.kill()
    process.wait()
    assert clock.advance(2000) is Advance.ENDED


def test_static_program_is_told_from_one_that_has_the_library(
    clock: PreloadedClock, compiled: Compile, start: Start
) -> None:
    loop = "#include <unistd.h>\nint main() { for (;;) usleep(1000); }"
    dynamic = start(clock.command([compiled(loop)]))
    assert clock.await_program(START_S)
    assert clock.rules([dynamic.pid])
    dynamic.kill()
    static = start(clock.command([compiled(loop, "-static")]))
    until(psutil.Process(static.pid).name, lambda name: name == "source")
    assert not clock.rules([static.pid])
