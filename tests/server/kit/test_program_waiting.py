from __future__ import annotations

import pytest
from pluriverse_protocol.reports import Reset, Stop
from pluriverse_server.kit import DaemonGone, Keyboard, Reporter, Window, wait_for_input
from support.report_server import ReportServer
from support.typist import Typist

pytestmark = pytest.mark.display

RESET = Reset(1, "gym-core.Pong-v3", 7, 60.0)
C = ord("c")


def test_nothing_comes_within_the_time(window: Window, reporter: Reporter) -> None:
    assert wait_for_input(Keyboard(window), reporter, 0.01) == ([], [])


def test_a_request_ends_the_wait(window: Window, reporter: Reporter, daemon: ReportServer) -> None:
    daemon.send(RESET, Stop())
    assert wait_for_input(Keyboard(window), reporter, None) == ([], [RESET, Stop()])


def test_a_key_ends_the_wait(window: Window, reporter: Reporter, typist: Typist) -> None:
    keyboard = Keyboard(window)
    typist.down(C)
    edges, requests = wait_for_input(keyboard, reporter, None)
    assert ([(edge.keysym, edge.down) for edge in edges], requests) == ([(C, True)], [])


def test_a_key_that_a_drawing_call_has_read_from_the_connection_ends_it_too(
    window: Window, reporter: Reporter, typist: Typist
) -> None:
    keyboard = Keyboard(window)
    typist.down(C)
    while not keyboard.waiting:
        window.sync()
    edges, _ = wait_for_input(keyboard, reporter, None)
    assert [edge.keysym for edge in edges] == [C]


def test_a_daemon_that_hangs_up_ends_it(window: Window, reporter: Reporter, daemon: ReportServer) -> None:
    daemon.hang_up()
    with pytest.raises(DaemonGone):
        wait_for_input(Keyboard(window), reporter, None)
