import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_protocol.reports import MAX_REPORT_DEPTH, Done, Observation, Ready, Report, Reward, Text, encode_line
from pluriverse_server.manifest.game import RewardTable
from pluriverse_server.sources.page.messages import MAX_CHARS, MAX_VALUE, BadValue, PageMessage, Scores, read

TABLES = [RewardTable(source="page", value="a"), RewardTable(source="page", value="b", give="end")]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
)
KEYS = ("episode", "at", "ready", "picture", "values", "text", "observation", "done", "truncated", "fault", "more")


def said(**changed: Any) -> str:
    return json.dumps({"episode": 3, "at": 1.5, **changed})


def assert_can_be_sent(reports: list[Report]) -> None:
    for report in reports:
        encode_line(report)


@given(st.text() | st.dictionaries(st.sampled_from(KEYS), JSON).map(json.dumps) | JSON.map(json.dumps))
def test_whatever_a_page_says_is_refused_or_can_be_sent(payload: str) -> None:
    try:
        message = read(payload, len(TABLES))
    except BadValue as error:
        reason = str(error)
        encode_line(Done(3, reason=reason))
        return
    assert message.values is None or all(abs(value) <= MAX_VALUE for value in message.values)
    assert_can_be_sent(Scores(TABLES).reports(message))


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        (
            {"values": [0, "NaN"]},
            r"rewards\[1\].value is NaN, expected a number",
        ),
        ({"values": [0, True]}, r"rewards\[1\].value is True, expected a number"),
        ({"values": [1e308, 0]}, r"rewards\[0\].value is 1e\+308, expected at most 1e\+09"),
        ({"values": [-(10**400), 0]}, "invalid message from the page: .* is too large"),
        ({"values": [1]}, "expected 2 reward values"),
        ({"values": 1}, "expected 2 reward values"),
        ({"episode": -1}, "'episode' is -1, expected"),
        ({"episode": True}, "'episode' is True, expected"),
        ({"at": "now"}, "'at' is 'now', expected number"),
        ({"picture": [0, 0, 0, 1]}, r"'picture' is \[0, 0, 0, 1\], expected"),
        ({"picture": [0, 0, 1.5, 1]}, "'picture' is"),
        ({"picture": "all"}, "'picture' is 'all'"),
        ({"picture": [1, 1, 1, 16384]}, "expected list of .* on a screen of RFB"),
        ({"text": 7}, "'text' is 7, expected string"),
        ({"text": "x" * (MAX_CHARS + 1)}, f"expected string of at most {MAX_CHARS} characters"),
        ({"observation": "é" * MAX_CHARS * 2}, "observation is .* bytes of JSON, over"),
    ],
)
def test_what_cannot_be_so_is_named(changed: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadValue, match=complaint):
        read(said(**changed), 2)


def test_largest_text_and_deepest_observation_can_be_sent() -> None:
    deep: Any = 1
    for _ in range(MAX_REPORT_DEPTH - 1):
        deep = [deep]
    message = read(said(text="\x00" * MAX_CHARS, observation=deep, ready=True), 2)
    reports = Scores(TABLES).reports(message)
    assert [type(report) for report in reports[1:]] == [Text, Observation]
    assert_can_be_sent(reports)


def test_half_a_surrogate_pair_and_numbers_that_are_none_do_not_get_through() -> None:
    assert read('{"episode": 3, "at": 1, "text": "a\\ud800"}', 2).text == "a?"
    for literal in ("NaN", "Infinity", "-Infinity", "1e400"):
        with pytest.raises(BadValue, match="invalid message from the page"):
            read(f'{{"episode": 3, "at": 1, "values": [{literal}, 0]}}', 2)


# ── what it earns ───────────────────────────────────────────────────────────────────────────────────────────────────

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
