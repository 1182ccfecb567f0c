import pytest
from pluriverse_server.access.connections import LOG_EVERY_S, ConnectionTable
from pluriverse_server.access.guesses import log_dropped, note_guess
from pluriverse_server.access.throttle import PasswordThrottle


def test_connections_that_were_dropped_are_counted_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    table: ConnectionTable[str] = ConnectionTable(max_pending=1, max_connections=9, max_per_address=9)
    for name in ("first", "second"):
        table.add(name, "192.0.2.1")
    log_dropped("VNC", table, "192.0.2.1", 0.0)
    for name in ("third", "fourth"):
        table.add(name, "192.0.2.2")
        log_dropped("VNC", table, "192.0.2.2", 1.0)
    log_dropped("VNC", table, "192.0.2.3", LOG_EVERY_S)
    assert caplog.messages == [
        "VNC: 1 connections without the password were dropped, last for 192.0.2.1",
        "VNC: 2 connections without the password were dropped, last for 192.0.2.3",
    ]


def test_wrong_passwords_are_logged_ever_more_rarely_and_right_ones_never(caplog: pytest.LogCaptureFixture) -> None:
    throttle = PasswordThrottle()
    note_guess("rewarder port", throttle, "192.0.2.1", right=True, now=0.0)
    for now in range(5):
        note_guess("rewarder port", throttle, "192.0.2.1", right=False, now=now)
    assert caplog.messages == [
        f"rewarder port: a wrong password from 192.0.2.1 ({count} in all)" for count in (1, 2, 4)
    ]
