import threading
from collections.abc import Generator
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest
from pluriverse.adapters.computer import Computer, Wait
from pluriverse.errors import PluriverseError
from pluriverse.remotes.free import Full, Remotes
from pluriverse.serving.computers import Computers, NoSuchHandle

pytestmark = [pytest.mark.slow, pytest.mark.display]

POLE = "gym-core.CartPole-v0"


@pytest.fixture
def computers() -> Generator[Computers]:
    opened = Computers(Remotes("local:1"), clock="lockstep")
    yield opened
    opened.close_all()


def test_a_remote_is_given_back_for_another(computers: Computers) -> None:
    first = computers.open(POLE)
    with pytest.raises(Full, match="all 1 remotes are in use"):
        computers.open(POLE)
    computers.close(first)
    second = computers.open(POLE)
    assert first != second
    with pytest.raises(NoSuchHandle), computers.using(first):
        pass
    with pytest.raises(NoSuchHandle):
        computers.close(first)


def test_a_remote_that_is_not_used_any_more_is_taken_for_another() -> None:
    computers = Computers(Remotes("local:1"), clock="lockstep", idle_s=0.0)
    try:
        left = computers.open(POLE)
        with computers.using(left), pytest.raises(Full):
            computers.open(POLE)
        computers.open(POLE)
        with pytest.raises(NoSuchHandle), computers.using(left):
            pass
    finally:
        computers.close_all()


def test_what_could_not_be_opened_takes_no_remote(computers: Computers) -> None:
    with pytest.raises(PluriverseError):
        computers.open("gym-core.NoSuchGame-v0")
    computers.close(computers.open(POLE))


def test_a_call_that_is_given_up_lets_go_of_the_computer_whether_it_acts_or_waits() -> None:
    computers = Computers(Remotes("local:1"), clock="realtime")
    began, given_up = threading.Event(), threading.Event()

    def act(computer: Computer) -> None:
        computer.begin()
        began.set()
        computer.do(Wait(100.0))

    try:
        handle = computers.open("gym-core.PongNoFrameskip-v3")
        with ThreadPoolExecutor() as threads:
            acting = threads.submit(computers.do, handle, act, given_up)
            assert began.wait(60)
            waiting = threads.submit(computers.do, handle, lambda _: pytest.fail("it acts"), given_up)
            given_up.set()
            for call in (acting, waiting):
                assert isinstance(call.exception(30), CancelledError)
        assert computers.do(handle, lambda computer: computer.clock) == "realtime"
    finally:
        computers.close_all()
