import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_authoring.compare import WINDOW_S, Mark, Matched, apart, match_rewards


def compare(true: list[tuple[float, float]], scraped: list[tuple[float, float]]) -> Matched[float]:
    return match_rewards([Mark(at, amount, at) for at, amount in true], [Mark(at, what, at) for at, what in scraped])


def sums_apart(true: list[tuple[float, float]], scraped: list[tuple[float, float]]) -> float:
    return apart([Mark(at, amount, at) for at, amount in true], [Mark(at, what, at) for at, what in scraped])


def left(matched: Matched[float]) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    return [(mark.at, mark.what) for mark in matched.missed], [(mark.at, mark.what) for mark in matched.false]


@pytest.mark.parametrize(
    ("true", "scraped", "missed", "false"),
    [
        ([], [], [], []),
        ([(1, 5)], [(1.2, 5)], [], []),
        ([(1, 5)], [(1.6, 5)], [(1, 5)], [(1.6, 5)]),
        ([(1, 5)], [(1, 6)], [(1, 5)], [(1, 6)]),
        ([(1, 5)], [], [(1, 5)], []),
        ([], [(1, 5)], [], [(1, 5)]),
        # Twice over an edge.
        ([(1, 5)], [(1, 5), (1.1, 5)], [], [(1.1, 5)]),
        # All that is read late is the same, although the next one's is nearer.
        ([(1, 5), (1.3, 5)], [(1.2, 5), (1.5, 5)], [], []),
        ([(1, 5), (1.3, 5), (1.6, 5)], [(1.4, 5), (1.7, 5), (2.0, 5)], [], []),
        ([(1, 5), (1.3, 5)], [(1.01, 5), (1.31, 5)], [], []),
        # Whatever the order in which they are told.
        ([(1.3, 5), (1, 5)], [(1.5, 5), (1.2, 5)], [], []),
        # A score that rolls up; and two hits that are read as one.
        ([(1, 30)], [(1.05, 10), (1.1, 10), (1.2, 10)], [], []),
        ([(1, 10), (1.03, 20)], [(1.05, 30)], [], []),
        ([(1, 10), (1, 20)], [(1, 30)], [], []),
        # Too slowly to be one.
        ([(1, 30)], [(1.05, 10), (1.1, 10), (1.6, 10)], [(1, 30)], [(1.05, 10), (1.1, 10), (1.6, 10)]),
        # A misreading that is taken back is none the less one.
        ([(1, 10)], [(1, 30), (1.1, -20)], [(1, 10)], [(1, 30), (1.1, -20)]),
        ([], [(1, 30), (1.1, -30)], [], [(1, 30), (1.1, -30)]),
    ],
)
def test_rewards_are_matched(
    true: list[tuple[float, float]],
    scraped: list[tuple[float, float]],
    missed: list[tuple[float, float]],
    false: list[tuple[float, float]],
) -> None:
    assert left(compare(true, scraped)) == (missed, false)


REWARDS = st.lists(st.tuples(st.floats(0, 5), st.sampled_from([-1.0, 1.0, 2.0])), max_size=8)


@given(REWARDS, REWARDS)
def test_what_is_left_over_is_all_that_differs_in_sum(
    true: list[tuple[float, float]], scraped: list[tuple[float, float]]
) -> None:
    missed, false = left(compare(true, scraped))
    difference = sum(amount for _, amount in true) - sum(amount for _, amount in scraped)
    assert sum(amount for _, amount in missed) - sum(amount for _, amount in false) == pytest.approx(difference)


@given(REWARDS, st.floats(0.01, 2), st.floats(0, WINDOW_S))
def test_what_is_only_later_is_the_same_however_close_together(
    true: list[tuple[float, float]], apart_s: float, later: float
) -> None:
    spread = [(index * apart_s, amount) for index, (_, amount) in enumerate(true)]
    matched = compare(spread, [(at + later, amount) for at, amount in spread])
    assert left(matched) == ([], [])
    assert sums_apart(spread, [(at + later, amount) for at, amount in spread]) == 0
    assert (matched.precision, matched.recall) == (1.0, 1.0)
    assert matched.delays == pytest.approx([later] * len(true))


@pytest.mark.parametrize(
    ("true", "scraped", "expected"),
    [
        ([], [], 0),
        ([(1, 5)], [(1.4, 5)], 0),
        ([(1, 5)], [(1.6, 5)], 5),
        ([(2, 5)], [(1.4, 5)], 5),
        ([(1, 5), (2, 5)], [(1, 3), (1.2, 2), (2.1, 5)], 0),
        ([(1, 5)], [(1, 15), (1.1, -10)], 10),
        ([(1, 1), (2, 1), (3, 1)], [], 3),
        ([], [(1, -2), (5, 2)], 2),
    ],
)
def test_sums_are_as_far_apart_as_they_ever_were_for_longer_than_the_window(
    true: list[tuple[float, float]], scraped: list[tuple[float, float]], expected: float
) -> None:
    assert sums_apart(true, scraped) == expected
