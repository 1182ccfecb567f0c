from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.sources import Source
from pluriverse_server.sources.reading import Reading, Sample
from pluriverse_server.sources.reading import ReadingState as State
from pluriverse_server.sources.settle import MAX_VALUE, Settler


def read(table: Source, values: Sequence[Value], settler: Settler | None = None) -> list[Reading]:
    """What becomes of values that are read at 0, 1, 2, … seconds."""
    settler = settler or Settler(table)
    return [settler.feed(Sample(value, float(at))) for at, value in enumerate(values)]


def states(table: Source, values: Sequence[Value]) -> list[State]:
    return [reading.state for reading in read(table, values)]


def counted(table: Source, values: Sequence[Value]) -> list[Value]:
    return [reading.value for reading in read(table, values)]


def test_value_counts_once_enough_cycles_agree_and_since_the_first_of_them() -> None:
    readings = read(Source(agree=3), [5, 5, 5, 5, 7, 7, 7])
    assert [reading.value for reading in readings] == [None, None, 5, 5, 5, 5, 7]
    assert [reading.at for reading in readings] == [0, 0, 0, 0, 0, 0, 4]
    assert [reading.state for reading in readings] == [
        *[
            State.UNSETTLED,
            State.UNSETTLED,
            State.OK,
            State.OK,
            State.UNSETTLED,
            State.UNSETTLED,
            State.OK,
        ]
    ]


def test_between_episodes_any_value_counts_but_none_that_has_gone() -> None:
    settler = Settler(Source(agree=1, max=10, monotonic="up"))
    values: list[Value] = [10, 0, 99, 3, None, 5]
    assert [settler.feed_between(Sample(value, 0.0)).value for value in values] == [10, 0, None, 3, None, 5]


def test_what_is_between_agreeing_cycles_makes_them_count_anew() -> None:
    assert counted(Source(agree=2), [1, 1, 2, 1, 2, 1, 2, 2]) == [None, 1, 1, 1, 1, 1, 1, 2]
    assert counted(Source(agree=2), [1, 1, 2, None, 2, 2]) == [None, 1, 1, 1, 1, 2]


@pytest.mark.parametrize(
    ("table", "value", "state"),
    [
        (Source(agree=1), None, State.NOTHING),
        (Source(agree=1, min=0), -1, State.IMPLAUSIBLE),
        (Source(agree=1, max=10), 11, State.IMPLAUSIBLE),
        (Source(agree=1, max_jump=5), 11, State.IMPLAUSIBLE),
        (Source(agree=1, monotonic="up"), 4, State.IMPLAUSIBLE),
        (Source(agree=1, monotonic="down"), 6, State.IMPLAUSIBLE),
        (Source(agree=1, max=10), "ten", State.IMPLAUSIBLE),
        (Source(agree=1), float("nan"), State.IMPLAUSIBLE),
        (Source(agree=1), float("inf"), State.IMPLAUSIBLE),
        (Source(agree=1), 10**400, State.IMPLAUSIBLE),
        (Source(agree=1), MAX_VALUE * 2, State.IMPLAUSIBLE),
    ],
)
def test_what_is_not_plausible_leaves_the_value_as_it_was(table: Source, value: Value, state: State) -> None:
    first, second = read(table, [5, value])
    assert first.state is State.OK
    assert (second.value, second.at, second.state) == (5, 0.0, state)
    assert second.sample == Sample(value, 1.0)


def test_bounds_are_within_what_is_plausible() -> None:
    assert counted(Source(agree=1, min=0, max=10, max_jump=10), [0, 10, 0]) == [0, 10, 0]
    assert counted(Source(agree=1, monotonic="up"), [3, 3, 4]) == [3, 3, 4]


def test_implausible_value_is_not_believed_however_long_it_is_read() -> None:
    assert counted(Source(agree=2, max_jump=10), [0, 0, *[99] * 1000])[-1] == 0


def test_another_episode_compares_with_nothing_of_the_last() -> None:
    table = Source(agree=2, max_jump=10, monotonic="up")
    settler = Settler(table)
    assert read(table, [90, 90, 3], settler)[-1].value == 90
    settler.reset()
    again = read(table, [3, 3], settler)
    assert [reading.value for reading in again] == [None, 3]


def test_unsure_and_late_samples_do_not_count() -> None:
    settler = Settler(Source(agree=1, confidence=0.8, budget_ms=10))
    assert settler.feed(Sample(1, 0.0, confidence=0.79)).state is State.UNSURE
    assert settler.feed(Sample(1, 0.0, confidence=float("nan"))).state is State.UNSURE
    assert settler.feed(Sample(1, 0.0, lag_s=0.011)).state is State.LATE
    assert settler.feed(Sample(1, 3.0, confidence=0.8, lag_s=0.01)) == Reading(
        1, 3.0, State.OK, Sample(1, 3.0, confidence=0.8, lag_s=0.01)
    )


def test_events_count_whatever_becomes_of_the_value() -> None:
    settler = Settler(Source(agree=2, max=10))
    samples = [Sample(1, 0.0, events=2), Sample(99, 1.0, events=3), Sample(None, 2.0, events=1), Sample(1, 3.0)]
    assert [settler.feed(sample).events for sample in samples] == [2, 3, 1, 0]


def test_truth_and_one_are_different_values() -> None:
    (first, second) = read(Source(agree=1), [1, True])
    assert (first.value, second.value, second.at) == (1, True, 1.0)


def test_texts_settle_as_numbers_do() -> None:
    assert counted(Source(agree=2), ["", "a", "a", "b", "a"]) == [None, None, "a", "a", "a"]


numbers = st.integers(-20, 20) | st.floats(-20, 20) | st.sampled_from([float("nan"), float("inf")])
tables = st.builds(
    Source,
    min=st.none() | st.integers(-15, 0).map(float),
    max=st.none() | st.integers(0, 15).map(float),
    max_jump=st.none() | st.integers(1, 10).map(float),
    monotonic=st.none() | st.sampled_from(["up", "down"]),
    agree=st.integers(1, 4),
)


@given(tables, st.lists(numbers | st.none()))
def test_no_reading_ever_violates_its_table(table: Source, values: list[Value]) -> None:
    last: Value = None
    for reading in read(table, values):
        value = reading.value
        if value is None:
            assert last is None
            continue
        assert isinstance(value, (int, float))
        assert table.min is None or value >= table.min
        assert table.max is None or value <= table.max
        if isinstance(last, (int, float)):
            assert table.max_jump is None or abs(value - last) <= table.max_jump
            assert table.monotonic != "up" or value >= last
            assert table.monotonic != "down" or value <= last
        last = value


@given(st.integers(2, 6), st.lists(st.tuples(st.integers(1, 9), st.integers(1, 10)), max_size=20))
def test_noise_that_is_shorter_than_agree_never_shows(agree: int, noise: list[tuple[int, int]]) -> None:
    values: list[Value] = [0] * agree
    for value, cycles in noise:
        # Longer runs of one value would be no noise, and so would two neighbours of the same.
        values += [value] * min(cycles, agree - 1)
        values.append(0)
    assert set(counted(Source(agree=agree), values)[agree - 1 :]) == {0}


@given(tables, st.lists(numbers | st.none()))
def test_state_is_ok_just_when_the_sample_is_what_counts(table: Source, values: list[Value]) -> None:
    for reading in read(table, values):
        assert reading.sample is not None
        assert (reading.state is State.OK) == (reading.value == reading.sample.value and reading.value is not None)
