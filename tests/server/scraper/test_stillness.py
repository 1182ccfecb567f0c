import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from pluriverse_server.scraper.stillness import Stillness, descendants, process_tree
from support.waiting import until

# Waits for a line, then works for so many seconds, and again.
WORKER = """
import sys, time
for line in sys.stdin:
    end = time.monotonic() + float(line)
    while time.monotonic() < end:
        pass
    print("done", flush=True)
"""


@contextmanager
def worker() -> Generator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            # It has started.
            work(process, 0)
            assert process.stdout is not None
            process.stdout.readline()
            yield process
        finally:
            process.kill()


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def work(process: subprocess.Popen[str], seconds: float) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{seconds}\n")
    process.stdin.flush()


def still(stillness: Stillness) -> bool:
    before = stillness.look()
    return before is not None and stillness.stood(before)


def test_process_that_waits_or_has_ended_stands_still_and_one_that_works_does_not() -> None:
    before = descriptors()
    with worker() as process:
        stillness = Stillness([process.pid])
        until(lambda: still(stillness))
        work(process, 60)
        until(lambda: not still(stillness))
        assert not still(stillness)
        process.kill()
        process.wait()
        assert not still(stillness)  # it has just ended
        assert still(stillness)
        stillness.close()
        stillness.close()
    assert descriptors() == before


def test_work_that_is_done_shows_in_the_next_look() -> None:
    with worker() as process:
        stillness = Stillness([process.pid])
        until(lambda: still(stillness))
        before = stillness.look()
        work(process, 0)
        assert process.stdout is not None
        process.stdout.readline()
        until(lambda: still(stillness))
        assert stillness.look() != before
        stillness.close()


def test_tree_of_a_process_has_its_children_and_theirs() -> None:
    with subprocess.Popen(["sh", "-c", "sh -c 'sleep 60; true'; true"]) as process:
        until(lambda: len(process_tree(process.pid)) == 3)
        tree = process_tree(process.pid)
        assert tree[0] == process.pid
        for pid in tree:
            os.kill(pid, signal.SIGKILL)


def test_descendants_are_found_by_a_word_of_their_command() -> None:
    with subprocess.Popen(["sh", "-c", "sleep 61; true"]) as process:
        until(lambda: len(descendants(os.getpid(), "61")) == 1)
        (found,) = descendants(os.getpid(), "61")
        assert found in process_tree(process.pid)[1:]
        assert descendants(os.getpid(), "6") == []
        os.kill(found, signal.SIGKILL)


# Of its own: threads of this process end when they like. Whoever starts a program waits in the kernel until that has
# begun, which one does once somebody writes to the pipe that it is to read.
THREADS = """
import os, sys, threading
opens = [(os.POSIX_SPAWN_OPEN, 0, sys.argv[1], os.O_RDONLY, 0)]
for line in iter(sys.stdin.readline, ""):
    if line == "begin\\n":
        end = threading.Event()
        thread = threading.Thread(target=end.wait)
        thread.start()
    elif line == "end\\n":
        end.set()
        thread.join()
    else:
        start = lambda: os.posix_spawn("/bin/true", ["true"], {}, file_actions=opens)
        threading.Thread(target=start).start()
    print(flush=True)
"""


def test_thread_that_the_kernel_keeps_waiting_does_not_stand_still_though_it_is_in_the_place_of_another(
    tmp_path: Path,
) -> None:
    os.mkfifo(tmp_path / "fifo")
    command = [sys.executable, "-c", THREADS, tmp_path / "fifo"]
    with subprocess.Popen(command, 0, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        folder = Path(f"/proc/{process.pid}/task")

        def ask(what: bytes) -> None:
            assert process.stdin is not None
            process.stdin.write(what)

        def hear(threads: int) -> None:
            assert process.stdout is not None
            process.stdout.readline()
            until(lambda: len(list(folder.iterdir())) == threads)

        ask(b"begin\n")
        hear(2)
        stillness = Stillness([process.pid])
        until(lambda: still(stillness))
        ask(b"end\n")
        hear(1)
        ask(b"start\n")
        until(lambda: any(") D " in (thread / "stat").read_text() for thread in folder.iterdir()))
        waited = [still(stillness) for _ in range(3)]
        with (tmp_path / "fifo").open("w"):
            hear(1)
        assert not any(waited)
        until(lambda: still(stillness))
        stillness.close()
        process.kill()
