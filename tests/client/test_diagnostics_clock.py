from hypothesis import given
from hypothesis import strategies as st
from pluriverse.diagnostics import DRIFT, WINDOW, ClockEstimator

# Milliseconds in UNIX time have a few 1e-7 of rounding.
ROUNDING = 1e-5

delays = st.floats(0.0, 0.5)
offsets = st.floats(-1e4, 1e4)


def ping(clock: ClockEstimator, at: float, skew: float, there: float, back: float) -> float:
    """A ping sent at ``at``; ``skew`` is here minus there. Returns when it is back."""
    reached = at + there
    received = reached + back
    clock.add(at, reached - skew, reached - skew, received)
    return received


@given(offsets, st.lists(st.tuples(delays, delays), min_size=1, max_size=20))
def test_true_skew_is_always_within_the_bounds(skew: float, ways: list[tuple[float, float]]) -> None:
    clock, now = ClockEstimator(), 1.7e9
    for there, back in ways:
        now = ping(clock, now + 1, skew, there, back)
    bounds = clock.skew(now)
    assert bounds is not None
    assert bounds.low - ROUNDING <= skew <= bounds.high + ROUNDING


@given(st.lists(st.tuples(delays, delays), min_size=1, max_size=WINDOW))
def test_bounds_are_no_wider_than_the_shortest_round_trip_and_its_age(ways: list[tuple[float, float]]) -> None:
    clock, now = ClockEstimator(), 1.7e9
    began = now
    for there, back in ways:
        now = ping(clock, now + 1, 0.0, there, back)
    bounds = clock.skew(now)
    assert bounds is not None
    shortest = min(there + back for there, back in ways)
    assert bounds.high - bounds.low <= shortest + 2 * DRIFT * (now - began) + ROUNDING


def test_slow_drift_is_followed() -> None:
    clock, skew = ClockEstimator(), 0.0
    for second in range(600):
        skew += 50e-6
        ping(clock, 1000.0 + second, skew, 0.002, 0.002)
    bounds = clock.skew(1600.0)
    assert bounds is not None
    assert bounds.low <= skew <= bounds.high
    assert bounds.high - bounds.low < 0.006


def test_clock_that_is_set_is_followed_at_once() -> None:
    clock = ClockEstimator()
    ping(clock, 100.0, 0.0, 0.001, 0.001)
    ping(clock, 101.0, 60.0, 0.1, 0.1)
    bounds = clock.skew(101.2)
    assert bounds is not None
    assert bounds.low <= 60.0 <= bounds.high


def test_impossible_timestamps_are_passed_over() -> None:
    clock = ClockEstimator()
    clock.add(10.0, 5.0, 9.0, 11.0)
    assert clock.skew(11.0) is None


def test_message_from_the_future_makes_the_skew_unknown_until_the_next_ping() -> None:
    clock = ClockEstimator()
    now = ping(clock, 1.7e9, 0.0, 0.01, 0.01)
    assert not clock.doubts(now, now + 0.01)
    assert clock.doubts(now + 3600.0, now + 0.01)
    assert clock.skew(now) is None
    now = ping(clock, now + 0.1, -3600.0, 0.01, 0.01)
    bounds = clock.skew(now)
    assert bounds is not None
    assert abs(bounds.middle + 3600.0) < 1.0


def test_late_message_is_doubted_once_and_changes_nothing() -> None:
    clock = ClockEstimator()
    now = ping(clock, 1.7e9, 0.0, 0.01, 0.01)
    before = clock.skew(now)
    assert clock.doubts(now - 10.0, now)
    assert not clock.doubts(now - 10.0, now)
    assert clock.skew(now) == before
    now = ping(clock, now, 0.0, 0.01, 0.01)
    assert clock.doubts(now - 10.0, now)
