import select
from pathlib import Path

import pytest
from pluriverse_protocol.errors import LocalProtocolError, MalformedReport
from pluriverse_protocol.reports import Delivered, Frame, Reset, Reward, Stop, encode_line
from pluriverse_server.kit import DaemonGone, NoDaemon, Reporter
from support.report_server import ReportServer

RESET = Reset(1, "gym-core.Pong-v3", 7, 60.0)


def wait_for_requests(reporter: Reporter) -> None:
    assert select.select([reporter], [], [], 60)[0]


def test_where_no_daemon_is_it_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PLURIVERSE_SOCKET", str(tmp_path / "none"))
    with pytest.raises(NoDaemon, match="the daemon doesn't listen"):
        Reporter.from_environment()
    monkeypatch.delenv("PLURIVERSE_SOCKET")
    with pytest.raises(NoDaemon, match="PLURIVERSE_SOCKET isn't set"):
        Reporter.from_environment()


def test_requests_come_in_order_and_all_at_once(daemon: ReportServer, reporter: Reporter) -> None:
    assert reporter.requests() == []
    daemon.send(RESET, Delivered(1, 2.5), Stop())
    wait_for_requests(reporter)
    assert reporter.requests() == [RESET, Delivered(1, 2.5), Stop()]


def test_half_a_request_waits_for_its_other_half(daemon: ReportServer, reporter: Reporter) -> None:
    line = encode_line(RESET)
    daemon.send_bytes(line[:20])
    wait_for_requests(reporter)
    assert reporter.requests() == []
    daemon.send_bytes(line[20:])
    wait_for_requests(reporter)
    assert reporter.requests() == [RESET]


def test_reports_arrive_in_order_and_nothing_is_sent_of_those_of_which_one_cannot_be(
    daemon: ReportServer, reporter: Reporter
) -> None:
    with pytest.raises(LocalProtocolError):
        reporter.report(Frame(1, 1), Reward(1, float("nan")))
    reporter.report(Frame(1, 10, 2, 5.0), Reward(1, 1.5, 5.0))
    assert [daemon.next(), daemon.next()] == [Frame(1, 10, 2, 5.0), Reward(1, 1.5, 5.0)]


def test_last_words_of_a_daemon_that_hung_up_are_read_before_its_end(daemon: ReportServer, reporter: Reporter) -> None:
    daemon.send(Stop())
    daemon.hang_up()
    wait_for_requests(reporter)
    assert reporter.requests() == [Stop()]
    with pytest.raises(DaemonGone):
        reporter.requests()


def test_reporting_to_a_daemon_that_hung_up_says_so(daemon: ReportServer, reporter: Reporter) -> None:
    daemon.hang_up()
    with pytest.raises(DaemonGone):
        reporter.report(Frame(1, 1))


def test_a_line_that_is_no_request_is_malformed(daemon: ReportServer, reporter: Reporter) -> None:
    daemon.send_bytes(b'{"request": "dance"}\n')
    wait_for_requests(reporter)
    with pytest.raises(MalformedReport):
        reporter.requests()
