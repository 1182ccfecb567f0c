from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_protocol.reports import MAX_REPORT_DEPTH, Done, Observation, Report, Text, encode_line
from pluriverse_server.manifest.game import RewardTable
from pluriverse_server.sources.page.messages import MAX_CHARS, MAX_VALUE, BadValue, PageMessage, Scores, read

TABLES = [RewardTable(source="page", value="a"), RewardTable(source="page", value="b", give="end")]

NUMBERS = st.floats(-MAX_VALUE, MAX_VALUE) | st.integers(-int(MAX_VALUE), int(MAX_VALUE))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
)
KEYS = ("episode", "at", "ready", "picture", "values", "text", "observation", "done", "truncated", "fault", "more")
MESSAGES = st.fixed_dictionaries(
    {"episode": st.integers(0, 2**53), "at": st.floats(0, 1e10)},
    optional={
        "ready": st.booleans() | st.none(),
        "picture": st.lists(st.integers(1, 65535), min_size=4, max_size=4),
        "values": st.lists(NUMBERS, min_size=2, max_size=2),
        "text": st.text(),
        "observation": JSON,
        "done": st.text(max_size=200),
        "truncated": st.text(max_size=200),
    },
)


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


@given(st.lists(MESSAGES, max_size=10))
def test_whatever_comes_of_what_is_accepted_can_be_sent(messages: list[dict[str, Any]]) -> None:
    scores = Scores(TABLES)
    for message in messages:
        try:
            accepted = read(json.dumps(message), len(TABLES))
        except BadValue:
            continue
        assert_can_be_sent(scores.reports(accepted))


def test_message_with_nothing_new_says_nothing() -> None:
    assert read(said(), 2) == PageMessage(3, 1.5)


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        (
            {"values": [0, "NaN"]},
            r"rewards\[1\].value is NaN, expected a number",
        ),
        ({"values": [0, True]}, r"rewards\[1\].value is True, expected a number"),
        ({"values": [1e308, 0]}, r"rewards\[0\].value is 1e\+308, expected at most 1e\+09"),
        ({"values": [-(10**400), 0]}, "can't be read: .* is too large"),
        ({"values": [-(10**300), 0]}, r"rewards\[0\].value is -1e\+300, expected at most 1e\+09"),
        ({"values": [1]}, "expected 2 reward values"),
        ({"values": 1}, "expected 2 reward values"),
        ({"episode": -1}, "'episode' is -1, expected"),
        ({"episode": True}, "'episode' is True, expected"),
        ({"at": "now"}, "'at' is 'now', expected number"),
        ({"picture": [0, 0, 0, 1]}, r"'picture' is \[0, 0, 0, 1\], expected"),
        ({"picture": [0, 0, 1.5, 1]}, "'picture' is"),
        ({"picture": [0, 0, 1, "1"]}, "'picture' is"),
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


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_numbers_that_are_none_are_refused(literal: str) -> None:
    with pytest.raises(BadValue, match="can't be read"):
        read(f'{{"episode": 3, "at": 1, "values": [{literal}, 0]}}', 2)


def test_largest_text_and_deepest_observation_can_be_sent() -> None:
    deep: Any = 1
    for _ in range(MAX_REPORT_DEPTH - 1):
        deep = [deep]
    message = read(said(text="\x00" * MAX_CHARS, observation=deep, ready=True), 2)
    reports = Scores(TABLES).reports(message)
    assert [type(report) for report in reports[1:]] == [Text, Observation]
    assert_can_be_sent(reports)


def test_half_a_surrogate_pair_does_not_get_through() -> None:
    assert read('{"episode": 3, "at": 1, "text": "a\\ud800"}', 2).text == "a?"


def test_value_limit_is_finite() -> None:
    assert math.isfinite(2 * MAX_VALUE)
