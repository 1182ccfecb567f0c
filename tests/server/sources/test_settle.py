from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.sources import Source
from pluriverse_server.sources.reading import Reading, Sample
from pluriverse_server.sources.reading import ReadingState as State
from pluriverse_server.sources.settle import MAX_VALUE, Settler, Settlers


def read(table: Source, values: Sequence[Value], settler: Settler | None = None) -> list[Reading]:
    """What becomes of values that are read at 0, 1, 2, … seconds."""
    settler = settler or Settler(table)
    return [settler.feed(Sample(value, float(at))) for at, value in enumerate(values)]


def counted(table: Source, values: Sequence[Value]) -> list[Value]:
    return [reading.value for reading in read(table, values)]


def test_value_counts_once_enough_cycles_agree_and_since_the_first_of_them() -> None:
    readings = read(Source(agree=3), [5, 5, 5, 5, 7, 7, 7])
    assert [reading.value for reading in readings] == [None, None, 5, 5, 5, 5, 7]
    assert [reading.at for reading in readings] == [0, 0, 0, 0, 0, 0, 4]
    settled = [reading.state is State.OK for reading in readings]
    assert settled == [False, False, True, True, False, False, True]


def test_between_episodes_any_value_counts_but_none_that_has_gone() -> None:
    settler = Settler(Source(agree=1, max=10, monotonic="up"))
    values: list[Value] = [10, 0, 99, 3, None, 5]
    assert [settler.feed_between(Sample(value, 0.0)).value for value in values] == [10, 0, None, 3, None, 5]


def test_what_is_between_agreeing_cycles_makes_them_count_anew() -> None:
    assert counted(Source(agree=2), [1, 1, 2, 1, 2, 1, 2, 2]) == [None, 1, 1, 1, 1, 1, 1, 2]
    assert counted(Source(agree=2), [1, 1, 2, None, 2, 2]) == [None, 1, 1, 1, 1, 2]
    assert counted(Source(agree=2), ["", "a", "a", "b", "a"]) == [None, None, "a", "a", "a"]
    # Bounds are plausible.
    assert counted(Source(agree=1, min=0, max=10, max_jump=10), [0, 10, 0]) == [0, 10, 0]


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
        (Source(agree=1), 10**400, State.IMPLAUSIBLE),
        (Source(agree=1), MAX_VALUE * 2, State.IMPLAUSIBLE),
    ],
)
def test_what_is_not_plausible_leaves_the_value_as_it_was(table: Source, value: Value, state: State) -> None:
    first, second = read(table, [5, value])
    assert first.state is State.OK
    assert (second.value, second.at, second.state) == (5, 0.0, state)
    assert second.sample == Sample(value, 1.0)


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
def test_no_reading_ever_violates_its_table_and_ok_is_just_what_counts(table: Source, values: list[Value]) -> None:
    last: Value = None
    for reading in read(table, values):
        value = reading.value
        assert reading.sample is not None
        assert (reading.state is State.OK) == (value == reading.sample.value and value is not None)
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


FRAME_S = 1 / 60


def rolled(table: Source, values: Sequence[Value], confidence: float = 1.0) -> list[Reading]:
    """What becomes of values that are read at 60 frames a second; those of None were read without confidence."""
    settler = Settler(table)
    return [
        settler.feed(Sample(value or 0, at * FRAME_S, 0.1 if value is None else confidence))
        for at, value in enumerate(values)
    ]


def changes(readings: Sequence[Reading]) -> list[tuple[Value, float]]:
    """Each value that counted, and since when."""
    counted: list[tuple[Value, float]] = []
    for reading in readings:
        if reading.value is not None and (not counted or counted[-1] != (reading.value, reading.at)):
            counted.append((reading.value, reading.at))
    return counted


def test_a_counter_that_rolls_counts_once_and_since_it_began() -> None:
    table = Source(settles="0.3 s")
    values: list[Value] = [*[100] * 30, *range(101, 120), *[120] * 30]
    readings = rolled(table, values)
    assert changes(readings) == [(100, 0.0), (120, pytest.approx(30 * FRAME_S))]
    settled = next(index for index, reading in enumerate(readings) if reading.value == 120)
    assert settled == 30 + 19 + 18
    assert {reading.state for reading in readings[30:settled]} == {State.UNSETTLED}


def test_frames_that_cannot_be_read_delay_no_settling_and_end_none() -> None:
    values: list[Value] = [*[100] * 30, *[None, 120, 120, 120, None, 120, 120] * 4]
    readings = rolled(Source(settles="0.3 s"), values)
    assert changes(readings) == [(100, 0.0), (120, pytest.approx(31 * FRAME_S))]
    assert readings[34].state is State.UNSETTLED


def test_a_plausible_value_settles_though_the_way_to_it_is_not() -> None:
    values: list[Value] = [*[0] * 30, 7, 9, 99, 9, 5, *[5] * 30]
    assert changes(rolled(Source(settles="0.3 s", max_jump=10), values)) == [(0, 0.0), (5, pytest.approx(30 * FRAME_S))]


rolls = st.lists(st.tuples(st.none() | st.integers(1, 4), st.integers(1, 30)), max_size=25)


@given(st.sampled_from([None, "50 ms", "0.2 s"]), st.integers(1, 3), rolls)
def test_a_value_that_counts_has_stayed_the_same_for_so_long(
    settles: str | None, agree: int, runs: list[tuple[int | None, int]]
) -> None:
    table = Source(settles=settles, agree=agree)
    values: list[Value] = [value for value, frames in runs for _ in range(frames)]
    readings = rolled(table, values)
    last = Reading()
    for index, reading in enumerate(readings):
        if (reading.value, reading.at) != (last.value, last.at):
            # All that was read with confidence within the time to settle is this value, and so often.
            now = index * FRAME_S
            recent = [value for at, value in enumerate(values[: index + 1]) if at * FRAME_S >= now - table.settles_s]
            assert {value for value in recent if value is not None} == {reading.value}
            assert values[index - agree + 1 : index + 1] == [reading.value] * agree
            # It counts since something else than the last was first read, which is later than the last change.
            began = round(reading.at / FRAME_S)
            assert values[began] not in (None, last.value)
            assert reading.at > last.at or last.value is None
        last = reading


@given(st.integers(1, 3), rolls)
def test_rewards_of_a_settling_source_add_up_to_its_change(agree: int, runs: list[tuple[int | None, int]]) -> None:
    ends: list[Value] = [*([0] * 30), *(value for value, frames in runs for _ in range(frames)), *([3] * 30)]
    counted = [value for value, _ in changes(rolled(Source(settles="0.3 s", agree=agree), ends))]
    numbers = [value for value in counted if isinstance(value, (int, float))]
    assert numbers[0] == 0
    assert sum(after - before for before, after in pairwise(numbers)) == 3


def test_an_episode_that_has_settled_already_knows_its_values() -> None:
    settlers = Settlers({"score": Source(settles="0.3 s"), "lives": Source()})
    for at in range(30):
        for name in ("score", "lives"):
            settlers.feed(name, Sample(5, at * FRAME_S))
    assert settlers.begin(1.0) == set()
    assert settlers.feed("score", Sample(5, 1.0)).value == 5
    assert settlers.feed("lives", Sample(5, 1.0)).value is None
    settlers.begin()
    assert settlers.feed("score", Sample(5, 1.0)).value is None


def test_an_episode_knows_no_value_of_what_never_settles() -> None:
    settlers = Settlers({"score": Source(settles="0.3 s")})
    for index, value in enumerate([5] * 30 + [6, 7] * 20):
        settlers.feed("score", Sample(value, index * FRAME_S))
    assert settlers.begin(70 * FRAME_S) == {"score"}
    assert settlers.feed("score", Sample(6, 70 * FRAME_S)).value is None
