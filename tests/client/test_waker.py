import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest
from pluriverse.waker import ConditionWaker, EventWaker

DEADLINE_S = 60.0

Waker = EventWaker | ConditionWaker


@pytest.fixture(params=[EventWaker, ConditionWaker])
def waker(request: pytest.FixtureRequest) -> Waker:
    return request.param()


def after(seconds: float, action: Callable[[], object]) -> threading.Timer:
    timer = threading.Timer(seconds, action)
    timer.start()
    return timer


def test_a_condition_that_holds_is_not_waited_for(waker: Waker) -> None:
    assert waker.wait_for(lambda: True, 0.0)
    assert not waker.wait_for(lambda: False, 0.0)


def test_a_wake_reaches_every_waiting_thread(waker: Waker) -> None:
    news = threading.Event()
    woken: list[bool] = []
    looking = [threading.Event() for _ in range(3)]

    def wait(looked: threading.Event) -> None:
        def look() -> bool:
            looked.set()
            return news.is_set()

        woken.append(waker.wait_for(look, DEADLINE_S))

    threads = [threading.Thread(target=wait, args=(each,)) for each in looking]
    for thread, looked in zip(threads, looking, strict=True):
        thread.start()
        assert looked.wait(DEADLINE_S)
    news.set()
    waker.wake()
    for thread in threads:
        thread.join(DEADLINE_S)
    assert woken == [True] * 3


def test_a_ring_between_a_look_and_the_wait_is_not_missed() -> None:
    waker = EventWaker()
    assert not waker.wait_for(lambda: False, 0.01)
    looks: list[int] = []

    def look() -> bool:
        looks.append(len(looks))
        if len(looks) == 1:
            waker.wake()
        return len(looks) > 1

    assert waker.wait_for(look, DEADLINE_S)


def test_waiting_ends_in_time_to_less_than_a_millisecond_of_the_clock(waker: Waker) -> None:
    spent = 1.0
    # Of some tries the best, for the machine may do other things.
    while spent >= 0.004:
        began = time.monotonic()
        assert not waker.wait_for(lambda: False, 0.0034)
        spent = time.monotonic() - began
        assert spent >= 0.0034


def test_a_waiter_sleeps_while_nobody_rings() -> None:
    waker = EventWaker()
    waker.wait_for(lambda: False, 0.001)
    looks = 0

    def look() -> bool:
        nonlocal looks
        looks += 1
        return False

    assert not waker.wait_for(look, 0.2)
    assert looks == 2


def test_descriptors_beyond_those_of_select_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pluriverse.waker.FD_SETSIZE", 0)
    waker, news = EventWaker(), threading.Event()
    timer = after(0.01, lambda: (news.set(), waker.wake()))
    assert waker.wait_for(news.is_set, DEADLINE_S)
    timer.join()
    assert not waker.wait_for(lambda: False, 0.002)


def test_a_signal_interrupts_a_wait() -> None:
    code = "from pluriverse.waker import WAKER; print('waiting', flush=True); WAKER.wait_for(lambda: False, 60)"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "waiting\n"
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=DEADLINE_S)
    assert "KeyboardInterrupt" in errors


def test_the_child_of_a_fork_has_a_bell_of_its_own() -> None:
    code = """
import os, threading
from pluriverse.waker import WAKER
news = False
def wake():
    global news
    news = True
    WAKER.wake()
WAKER.wait_for(lambda: False, 0.01)
child = os.fork()
threading.Timer(0.05, wake).start()
woken = WAKER.wait_for(lambda: news, 60)
if child:
    woken = woken and os.waitpid(child, 0)[1] == 0
os._exit(not woken)
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=DEADLINE_S * 3, check=False).returncode == 0
