from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pluriverse_protocol.reports import Done, Observation, Ready, Reward, Text
from pluriverse_server.manifest.game import RewardTable
from pluriverse_server.sources.page.messages import PageMessage, Scores

CHANGE = RewardTable(source="page", value="game.score")
END = RewardTable(source="page", value="game.result", give="end")


def values(*numbers: float) -> PageMessage:
    return PageMessage(3, 1.5, values=numbers)


def test_value_at_ready_is_where_counting_begins() -> None:
    scores = Scores([CHANGE])
    assert scores.reports(PageMessage(3, 1.0, ready=True, values=(100.0,), picture=(0, 0, 8, 8))) == [
        Ready(3, picture=(0, 0, 8, 8))
    ]
    assert scores.reports(values(103.0)) == [Reward(3, 3.0, 1.5)]
    assert scores.reports(values(101.0)) == [Reward(3, -2.0, 1.5)]


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1))
def test_rewards_of_an_episode_sum_up_to_the_change(counts: list[int]) -> None:
    scores = Scores([CHANGE])
    scores.reports(PageMessage(3, 1.0, ready=True, values=(float(counts[0]),)))
    reports = [report for count in counts for report in scores.reports(values(float(count)))]
    assert sum(report.reward for report in reports if isinstance(report, Reward)) == counts[-1] - counts[0]


def test_value_that_is_given_at_the_end_is_no_reward_before() -> None:
    scores = Scores([CHANGE, END])
    scores.reports(PageMessage(3, 1.0, ready=True, values=(0.0, 0.0)))
    assert scores.reports(values(0.0, 0.5)) == []
    assert scores.reports(PageMessage(3, 2.0, values=(2.0, -1.0), done="lost")) == [
        Done(3, 1.0, terminated=True, truncated=False, reason="lost", at=2.0)
    ]


def test_end_gives_the_last_value_that_was_seen() -> None:
    scores = Scores([END])
    scores.reports(PageMessage(3, 1.0, ready=True, values=(0.5,)))
    assert scores.reports(PageMessage(3, 2.0, truncated="late")) == [
        Done(3, 0.5, terminated=False, truncated=True, reason="late", at=2.0)
    ]


def test_all_that_is_new_at_once_is_told_with_the_end_last() -> None:
    scores = Scores([CHANGE])
    everything = PageMessage(3, 1.0, ready=True, values=(1.0,), text="go", observation=[1])
    assert [type(report) for report in scores.reports(everything)] == [Ready, Text, Observation]
    last = PageMessage(3, 2.0, values=(2.0,), text="stop", observation=[2], done="")
    assert [type(report) for report in scores.reports(last)] == [Text, Observation, Done]


def test_page_that_is_loaded_again_within_its_episode_begins_to_count_again() -> None:
    scores = Scores([CHANGE])
    scores.reports(PageMessage(3, 1.0, ready=True, values=(0.0,)))
    scores.reports(values(7.0))
    assert scores.reports(PageMessage(3, 2.0, ready=True, values=(0.0,))) == []
    assert scores.reports(values(1.0)) == [Reward(3, 1.0, 1.5)]
