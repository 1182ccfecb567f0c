from __future__ import annotations

import pytest
from pluriverse_protocol.reports import Reset, Stop
from pluriverse_server.kit import DaemonGone, Keyboard, Reporter, Window, wait_for_input
from support.report_server import ReportServer
from support.typist import Typist

pytestmark = pytest.mark.display

RESET = Reset(1, "gym-core.Pong-v3", 7, 60.0)
C = ord("c")


def test_a_request_ends_the_wait_and_so_does_the_daemons_end(
    window: Window, reporter: Reporter, daemon: ReportServer
) -> None:
    keyboard = Keyboard(window)
    assert wait_for_input(keyboard, reporter, 0.01) == ([], [])
    daemon.send(RESET, Stop())
    assert wait_for_input(keyboard, reporter, None) == ([], [RESET, Stop()])
    daemon.hang_up()
    with pytest.raises(DaemonGone):
        wait_for_input(keyboard, reporter, None)


def test_a_key_ends_the_wait_also_where_a_drawing_call_has_read_it_from_the_connection(
    window: Window, reporter: Reporter, typist: Typist
) -> None:
    keyboard = Keyboard(window)
    typist.down(C)
    edges, requests = wait_for_input(keyboard, reporter, None)
    assert ([(edge.keysym, edge.down) for edge in edges], requests) == ([(C, True)], [])
    typist.up(C)
    while not keyboard.waiting:
        window.sync()
    edges, _ = wait_for_input(keyboard, reporter, None)
    assert [(edge.keysym, edge.down) for edge in edges] == [(C, False)]
