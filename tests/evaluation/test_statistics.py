import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pluriverse_eval.statistics import FEWEST, compare, estimate

Scores = dict[tuple[str, int], float]

scores = st.lists(st.lists(st.floats(-200, 200), min_size=FEWEST, max_size=8), min_size=1, max_size=4)


def of(*values: float, task: str = "pong") -> Scores:
    return {(task, seed): value for seed, value in enumerate(values)}


@given(scores)
@settings(max_examples=20)
def test_interval_lies_within_the_scores_and_around_the_mean(tasks: list[list[float]]) -> None:
    found = estimate(tasks)
    values = [value for task in tasks for value in task]
    assert found.interval is not None
    low, high = found.interval
    assert min(values) - 1e-6 <= low <= high <= max(values) + 1e-6
    assert low - 1e-6 <= found.mean <= high + 1e-6 or len(values) < 10
    assert found.count == len(values)


def test_fewer_than_five_episodes_of_a_task_give_no_interval() -> None:
    assert estimate([[100.0]]).interval is None
    found = estimate([[0.0, 100.0] * 5, [50.0] * 4])
    assert (found.mean, found.interval, found.count, found.fewest) == (50, None, 14, 4)
    together, _ = compare(of(1, 2, 3, 4), of(5, 6, 7, 8))
    assert (together.estimate.mean, together.estimate.interval, together.real) == (4, None, None)


def test_tasks_count_the_same_however_often_they_were_played() -> None:
    assert estimate([[0.0] * 9, [100.0]]).mean == 50


def test_difference_in_every_pair_is_real_though_the_scores_overlap() -> None:
    first = of(*range(0, 100, 10))
    together, tasks = compare(first, {key: value + 5 for key, value in first.items()})
    assert together.real
    assert together.estimate.mean == tasks["pong"].estimate.mean == 5
    assert together.p < 0.01


def test_difference_that_chance_makes_is_not_called_real() -> None:
    together, _ = compare(of(0, 50, 100, 30, 70, 20), of(50, 0, 90, 40, 60, 35))
    assert not together.real
    assert together.p > 0.3


@given(st.lists(st.tuples(st.floats(-100, 100), st.floats(-100, 100)), min_size=FEWEST, max_size=10))
@settings(max_examples=20)
def test_comparison_the_other_way_round_has_the_other_sign(pairs: list[tuple[float, float]]) -> None:
    first, second = of(*(a for a, _ in pairs)), of(*(b for _, b in pairs))
    there, back = compare(first, second)[0], compare(second, first)[0]
    assert there.estimate.mean == pytest.approx(-back.estimate.mean)
    assert there.estimate.interval is not None
    assert back.estimate.interval is not None
    assert there.estimate.interval[0] == pytest.approx(-back.estimate.interval[1], abs=1e-6)
    assert there.p == pytest.approx(back.p)


def test_only_pairs_of_the_same_task_and_seed_are_compared() -> None:
    together, tasks = compare({**of(1, 2, 3), ("maze", 0): 9.0}, {**of(2, 3), ("racer", 0): 1.0})
    assert together.estimate.count == 2
    assert list(tasks) == ["pong"]
    with pytest.raises(ValueError, match="in common"):
        compare(of(1), of(1, task="maze"))
