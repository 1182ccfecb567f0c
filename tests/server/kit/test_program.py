import os
import signal
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from pluriverse_protocol.events import Event
from pluriverse_protocol.reports import Delivered, Ready, Reset, Stop
from pluriverse_server import kit
from support.report_server import ReportServer
from support.step_channels import StepChannelListener
from support.typist import Typist
from support.xvfb import Xvfb

pytestmark = pytest.mark.display

RESET = Reset(1, "toy.First-v0", 7, 60.0)
C, D = ord("c"), ord("d")


class Broken(Exception):
    """The toy's own failure."""


class Toy(kit.Program):
    """Notes what it is told, and reports each key."""

    def __init__(self, reporter: kit.Reporter) -> None:
        self.window = kit.Window(64, 64)
        super().__init__(reporter, self.window, kit.MetadataBlock(self.window, 8, 8))
        self.told: list[object] = []

    def idle_s(self) -> float | None:
        return None

    def attend(self) -> None:
        self.told.append("attend")

    def reset(self, request: Reset) -> None:
        if request.env == "toy.Broken-v0":
            raise Broken("this one can't begin")
        self.told.append(request)

    def press(self, keysym: int) -> None:
        self.told.append((keysym, self.latch.held))
        self.reporter.report(Ready(1))

    def delivered(self, sent_at: float) -> None:
        self.told.append(sent_at)


@pytest.fixture
def sigterm() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def test_requests_reach_the_program_until_it_is_to_stop(
    display: Xvfb, reporter: kit.Reporter, daemon: ReportServer
) -> None:
    program = Toy(reporter)
    daemon.send(RESET, Delivered(1, 2.5), Stop(), RESET)
    program.run()
    program.window.close()
    assert program.told == [RESET, 2.5]


def test_a_press_is_told_with_the_keys_held_but_not_one_from_before_an_episode(
    reporter: kit.Reporter, daemon: ReportServer, typist: Typist
) -> None:
    program = Toy(reporter)
    running = threading.Thread(target=program.run)
    running.start()
    typist.down(C)
    assert daemon.next() == Ready(1)
    daemon.hang_up()
    running.join()
    assert program.told == [(C, frozenset({C})), "attend"]
    typist.tap(D)
    program.window.sync()
    program.drop_keys()
    assert program.latch.take() == {C}
    program.window.close()


def test_a_key_ends_the_wait_also_where_a_drawing_call_has_read_it_from_the_connection(
    window: kit.Window, reporter: kit.Reporter, typist: Typist
) -> None:
    keyboard = kit.Keyboard(window)
    assert kit.wait_for_input(keyboard, reporter, 0.01) == ([], [])
    typist.down(C)
    while not keyboard.waiting:
        window.sync()
    edges, requests = kit.wait_for_input(keyboard, reporter, None)
    assert ([(edge.keysym, edge.down) for edge in edges], requests) == ([(C, True)], [])


class Stepped:
    """An episode of one frame, which earns five points."""

    episode = 1
    over = False
    permitted = None

    def play(self, events: Sequence[Event], frames: int) -> kit.Outcome:
        self.over = True
        return kit.Outcome(5.0, terminated=True, reason="won")

    def see(self) -> kit.Seen:
        return kit.Seen(np.zeros((2, 2, 1), np.uint8))


class Steppable(Toy):
    """The toy, in lockstep where it is asked for that."""

    def reset(self, request: Reset) -> None:
        super().reset(request)
        self.lockstep.begin(Stepped() if request.clock == "lockstep" else None)


def test_steps_are_played_between_requests_and_keys(
    display: Xvfb, daemon: ReportServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PLURIVERSE_SOCKET", str(daemon.path))
    with StepChannelListener(tmp_path) as listener:
        monkeypatch.setenv("PLURIVERSE_STEP_CHANNEL", str(listener.path))
        reporter = kit.Reporter.from_environment()
        daemon.accept()
        program = Steppable(reporter)
        running = threading.Thread(target=program.run)
        running.start()
        daemon.send(replace(RESET, clock="lockstep"))
        agent = listener.open_step_channel()
        agent.hear_first()
        agent.step(1)
        answer, _ = agent.hear_step(1)
        assert (answer.reward, answer.terminated, answer.info) == (5.0, True, {"reason": "won"})
        daemon.send(RESET)
        agent.step(2)
        assert "episode" in agent.hear_error()
        daemon.send(Stop())
        running.join()
        program.window.close()
        reporter.close()
        for each in program.lockstep.waits_on:
            each.close()
    assert [told for told in program.told if told != "attend"] == [replace(RESET, clock="lockstep"), RESET]


def test_failure_is_said_and_is_the_exit_status(
    display: Xvfb,
    daemon: ReportServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    sigterm: None,
) -> None:
    monkeypatch.setenv("PLURIVERSE_SOCKET", str(daemon.path))

    def asked_for(env: str) -> int:
        def make(reporter: kit.Reporter) -> Toy:
            daemon.hang_up()
            daemon.accept()
            daemon.send(Reset(1, env, 7, 60.0), Stop())
            made.append(Toy(reporter))
            return made[-1]

        return kit.run_program("toy", make, Broken)

    made: list[Toy] = []

    assert asked_for("toy.First-v0") == 0
    assert asked_for("toy.Broken-v0") == 1
    monkeypatch.delenv("PLURIVERSE_SOCKET")
    assert kit.run_program("toy", Toy) == 1
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "toy: this one can't begin"
    assert said[1].startswith("toy: PLURIVERSE_SOCKET isn't set")
    for program in made:
        program.window.close()


def test_end_by_a_signal_is_no_failure(
    display: Xvfb, daemon: ReportServer, monkeypatch: pytest.MonkeyPatch, sigterm: None
) -> None:
    monkeypatch.setenv("PLURIVERSE_SOCKET", str(daemon.path))

    def make(reporter: kit.Reporter) -> Toy:
        os.kill(os.getpid(), signal.SIGTERM)
        raise AssertionError("goes on")

    with pytest.raises(SystemExit) as ended:
        kit.run_program("toy", make)
    assert ended.value.code == 0
