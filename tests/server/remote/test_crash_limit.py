import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pluriverse_server.remote.crash_limit import MAX_CRASHES, WINDOW_S, CrashLimiter

pytestmark = pytest.mark.display


def test_summary_names_what_died_most_often_first() -> None:
    log = CrashLimiter()
    for what in ("Xvfb: killed by SIGKILL", "program: exit status 1", "program: exit status 1"):
        log.record(what, 0.0)
    assert log.summary() == "program: exit status 1 (2x); Xvfb: killed by SIGKILL (1x)"
    log.record("Xvfb: exit status 2", WINDOW_S + 1)
    assert log.summary() == "Xvfb: exit status 2 (1x)"


@settings(deadline=None)
@given(st.lists(st.floats(0, 300), max_size=30).map(sorted))
def test_gives_up_exactly_where_counting_says_so(times: list[float]) -> None:
    log = CrashLimiter()
    for index, now in enumerate(times):
        recent = sum(now - then <= WINDOW_S for then in times[: index + 1])
        assert log.record("program", now) == (recent >= MAX_CRASHES)
