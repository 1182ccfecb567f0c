import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Generator

import psutil
import pytest
from pluriverse_server.scraper.tree import children, descendants, kill_below
from support.waiting import until

# A child, and a grandchild whose parent has gone; the first line tells both.
FAMILY = """
import os, subprocess, sys, time
from pluriverse_server.scraper.tree import adopt_orphans
adopt_orphans()
child = subprocess.Popen(["sleep", "600"])
reads, writes = os.pipe()
if os.fork() == 0:
    os.setsid()
    grandchild = subprocess.Popen(["sleep", "600"])
    os.write(writes, str(grandchild.pid).encode())
    os._exit(0)
os.wait()
print(child.pid, os.read(reads, 100).decode(), flush=True)
time.sleep(600)
"""

# Forks for as long as it can: some hundred processes are enough to outrun a look, and no more than a machine can take.
BOMB = """
import os, time
print("go", flush=True)
for _ in range(6):
    os.fork()
while True:
    time.sleep(0.01)
"""


# Its children end at once, and are reaped one by one once it is told to.
REAPS = """
import os
for _ in range(4000):
    if os.fork() == 0:
        os._exit(0)
input("born\\n")
for _ in range(4000):
    os.wait()
"""


@pytest.fixture
def family() -> Generator[tuple[subprocess.Popen[str], list[int]]]:
    process = subprocess.Popen([sys.executable, "-c", FAMILY], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    pids = [int(word) for word in process.stdout.readline().split()]
    yield process, pids
    process.kill()
    for pid in pids:
        if psutil.pid_exists(pid):
            os.kill(pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()


def test_orphans_are_found_below_whoever_adopts_them(family: tuple[subprocess.Popen[str], list[int]]) -> None:
    process, pids = family
    assert sorted(descendants(process.pid)) == sorted(pids)


def test_children_are_listed_while_others_are_reaped() -> None:
    with subprocess.Popen([sys.executable, "-c", REAPS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        before = set(children(process.pid))
        process.stdin.write(b"\n")
        process.stdin.flush()
        while listed := set(children(process.pid)):
            assert listed <= before
            before = listed


def test_names_with_parentheses_and_spaces_are_no_trouble() -> None:
    code = "import ctypes, time; ctypes.CDLL(None).prctl(15, b') R 1 (x'); print(flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            assert process.pid in descendants(os.getpid())
        finally:
            process.kill()


def test_zombies_are_not_living() -> None:
    with subprocess.Popen(["true"]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert process.pid not in descendants(os.getpid())


def test_process_whose_main_thread_has_ended_lives_and_can_be_killed() -> None:
    code = """
        import ctypes, subprocess, threading, time
        child = subprocess.Popen(["sleep", "600"])
        threading.Thread(target=time.sleep, args=(600,)).start()
        print(child.pid, flush=True)
        ctypes.CDLL(None).pthread_exit(None)
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        try:
            until(psutil.Process(process.pid).status, lambda status: status == psutil.STATUS_ZOMBIE)
            assert {process.pid, child} <= set(descendants(os.getpid()))
        finally:
            process.kill()
            os.kill(child, signal.SIGKILL)


def test_all_below_is_killed_and_the_root_is_not(family: tuple[subprocess.Popen[str], list[int]]) -> None:
    process, _ = family
    assert kill_below(process.pid, 10)
    assert descendants(process.pid) == []
    assert process.poll() is None


def test_what_forks_while_it_is_killed_is_killed_too() -> None:
    code = f"import os\nif os.fork(): os.wait()\nelse:\n exec({BOMB!r})"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as root:
        assert root.stdout is not None
        assert root.stdout.readline() == b"go\n"
        assert kill_below(root.pid, 20)
        root.kill()


def test_process_that_shuts_others_out_can_be_looked_into_by_root_alone() -> None:
    script = "import ctypes; from pluriverse_server.scraper.tree import *; shut_out(); exit(ctypes.CDLL(None).prctl(3))"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
