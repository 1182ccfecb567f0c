import math

import pytest
from hypothesis import given
from pluriverse_protocol import Headers, LocalProtocolError, MalformedReport, encode, messages
from pluriverse_protocol.limits import MAX_REPORT_BYTES
from pluriverse_protocol.reports import (
    MAX_REPORT_DEPTH,
    Done,
    Frame,
    Joystick,
    Observation,
    Ready,
    Report,
    Request,
    Reset,
    Reward,
    Text,
    decode_report,
    decode_request,
    encode_line,
)
from support.wire import program_reports, program_requests


@given(program_reports)
def test_each_report_comes_back_from_its_line(report: Report) -> None:
    line = encode_line(report)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode_report(line) == decode_report(line.rstrip(b"\n")) == report


@given(program_requests)
def test_each_request_comes_back_from_its_line(request: Request) -> None:
    line = encode_line(request)
    assert line.count(b"\n") == 1
    assert decode_request(line) == decode_request(line.rstrip(b"\n")) == request


@pytest.mark.parametrize(
    ("line", "report"),
    [
        (b'{"report": "ready", "episode": 1, "fps": 30, "joystick": true}', Ready(1, 30.0, joystick=True)),
        (b'{"report": "reward", "episode": 3, "reward": 1}\r', Reward(3, 1.0)),
        (b'{"report": "done", "episode": 3, "terminated": false, "truncated": true}', Done(3, 0.0, False, True)),
        (b'{"report": "observation", "episode": 3, "observation": null, "more": 1}', Observation(3, None)),
        (b'{"report": "frame", "episode": 3, "frames": 12, "at": 1.5}', Frame(3, 12, at=1.5)),
    ],
)
def test_reports_as_programs_write_them_are_read(line: bytes, report: Report) -> None:
    assert decode_report(line) == report


def test_a_reset_that_names_no_clock_is_in_real_time() -> None:
    line = b'{"request": "reset", "episode": 4, "env": "toy", "seed": 7, "fps": 60%s}'
    assert decode_request(line % b"") == Reset(4, "toy", 7, 60.0)
    for clock in (b'"fast"', b"1"):
        with pytest.raises(MalformedReport, match=r'is .*, expected "realtime" or "lockstep"'):
            decode_request(line % (b', "clock": ' + clock))


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"hello", "not JSON"),
        (b"\xff", "not JSON"),
        (b"{}", "'report' is None, expected one of ready"),
        (b'{"request": "stop"}', "'report' is None"),
        (b'{"report": "ready"}', "ready: 'episode' is missing"),
        (b'{"report": "ready", "episode": true}', "'episode' is True"),
        (b'{"report": "reward", "episode": 1, "reward": NaN}', "not JSON"),
        (b'{"report": "reward", "episode": 1, "reward": null}', "'reward' is None, expected number"),
        (b'{"report": "observation", "episode": 1}', "'observation' is missing"),
    ],
)
def test_a_line_that_is_no_report_is_refused_with_the_key_and_what_was_expected(line: bytes, complaint: str) -> None:
    with pytest.raises(MalformedReport, match=complaint.replace("[", r"\[")):
        decode_report(line)


def test_size_of_a_line_is_limited_at_exactly_the_limit_on_both_sides() -> None:
    room = MAX_REPORT_BYTES - len(encode_line(Text(1, "")))
    line = encode_line(Text(1, "x" * room))
    assert len(line) == MAX_REPORT_BYTES
    assert decode_report(line) == Text(1, "x" * room)
    with pytest.raises(LocalProtocolError, match="text is"):
        encode_line(Text(1, "x" * (room + 1)))
    with pytest.raises(MalformedReport, match="a line of"):
        decode_report(line + b"\n")


def test_the_deepest_observation_that_is_taken_can_be_sent_on_to_agents() -> None:
    def line(depth: int) -> bytes:
        nested = "[" * (depth - 1) + "]" * (depth - 1)
        return b'{"report": "observation", "episode": 1, "observation": %s}' % nested.encode()

    report = decode_report(line(MAX_REPORT_DEPTH))
    assert isinstance(report, Observation)
    assert encode(messages.Observation(report.observation), Headers(0, 1.0))
    with pytest.raises(MalformedReport, match="nested too deeply"):
        decode_report(line(MAX_REPORT_DEPTH + 1))


@pytest.mark.parametrize(
    "message", [Reward(1, math.nan), Reward(-1, 0.0), Joystick("a", math.inf), Observation(1, b"1")]
)
def test_what_a_line_cannot_carry_is_our_own_bug(message: Report | Request) -> None:
    with pytest.raises(LocalProtocolError, match="can't be sent"):
        encode_line(message)
