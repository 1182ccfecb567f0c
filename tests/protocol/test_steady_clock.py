import pytest
from pluriverse_protocol.steady_clock import RECENT_S, SteadyClock

START = 1_800_000_000.0


class Clocks:
    """Two clocks that go at the same pace; the wall's can be set."""

    def __init__(self) -> None:
        self.passed = 0.0
        self.set_by = 0.0
        self.steady = SteadyClock(self.wall, lambda: 77.0 + self.passed)

    def wall(self) -> float:
        return START + self.passed + self.set_by


@pytest.mark.parametrize("step", [3600.0, -3600.0, 2.0, -2.0])
def test_time_goes_on_when_the_clock_is_set(step: float) -> None:
    clocks = Clocks()
    clocks.passed = 5.0
    clocks.set_by = step
    assert clocks.steady.now() == START + 5.0
    assert clocks.steady.step == step


@pytest.mark.parametrize("step", [3600.0, -3600.0, 10.0, -10.0])
def test_date_has_the_same_age_whether_it_is_from_before_a_step_or_after_it(step: float) -> None:
    clocks = Clocks()
    before = clocks.wall()
    clocks.passed = 0.25
    assert clocks.steady.age(before) == 0.25
    clocks.set_by = step
    after = clocks.wall()
    clocks.passed = 0.5
    assert clocks.steady.age(before) == 0.5
    assert clocks.steady.age(after) == 0.25


def test_a_step_of_long_ago_explains_nothing() -> None:
    clocks = Clocks()
    clocks.set_by = 10.0
    clocks.steady.now()
    clocks.passed = RECENT_S + 1
    stamp = clocks.wall()
    clocks.passed += 10.0
    assert clocks.steady.age(stamp) == 10.0
