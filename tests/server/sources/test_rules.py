from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_protocol.reports import Done, Observation, Report, Reward, Text
from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.game import GameTables
from pluriverse_server.sources.reading import MAX_TEXT_CHARS, Reading, ReadingState, Sample
from pluriverse_server.sources.rules import MAX_HOLD_S, Rules
from pluriverse_server.sources.settle import Settler

NUMBER = {"from": "screen", "region": [0, 0, 9, 9], "read": "number"}
TEMPLATE = {"from": "screen", "region": [0, 0, 9, 9], "read": "template", "image": "over.png"}
LOG = {"from": "log", "pattern": "x"}
SOURCES: dict[str, Any] = {"score": NUMBER, "lives": NUMBER, "over": TEMPLATE, "menu": TEMPLATE, "hits": LOG}
FRAME_S = 1 / 64


def game(rewards: list[dict[str, Any]] | None = None, **episode: Any) -> GameTables:
    return GameTables.model_validate(
        {
            "program": {"command": ["game"]},
            "reset": {"by": "keys"},
            "sources": SOURCES,
            "rewards": [{"source": "score"}] if rewards is None else rewards,
            "episode": episode,
        }
    )


def ok(value: Value, at: float, events: int = 0) -> Reading:
    return Reading(value, at, ReadingState.OK, Sample(value, at, events=events), events)


def pending(value: Value, at: float) -> Reading:
    """A value that counts, while another is settling."""
    return Reading(value, at, ReadingState.UNSETTLED, Sample(None, at))


class Played:
    """An episode that began at 0, cycle for cycle; values that aren't named stay as they are."""

    def __init__(self, tables: GameTables, **values: Value) -> None:
        self.rules = Rules(tables)
        self.readings: dict[str, Reading] = {name: ok(value, -9.0) for name, value in values.items()}
        self.rules.begin(7, 0.0)
        self.first = self.feed(0.0)

    def feed(self, at: float, **values: Value | Reading) -> list[Report]:
        self.readings = {name: Reading(old.value, old.at, old.state, old.sample) for name, old in self.readings.items()}
        for name, value in values.items():
            self.readings[name] = value if isinstance(value, Reading) else ok(value, at)
        return self.rules.feed(at, self.readings)


# ── rewards ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_change_counts_from_the_first_value_of_the_episode() -> None:
    play = Played(game(), score=100)
    assert play.first == []
    assert play.feed(1.0, score=130) == [Reward(7, 30, 1.0)]
    assert play.feed(2.0) == []
    assert play.feed(3.0, score=120) == [Reward(7, -10, 3.0)]


def test_change_counts_from_where_the_number_begins_if_it_is_not_shown_then() -> None:
    play = Played(game([{"source": "score", "begins": 0}]))
    assert play.feed(1.0, score=2) == [Reward(7, 2, 1.0)]
    assert play.feed(2.0, score=3) == [Reward(7, 1, 2.0)]
    play = Played(game([{"source": "score", "begins": 0}]), score=5)
    assert play.first == []
    assert play.feed(1.0, score=ok(6, 0.75)) == [Reward(7, 1, 0.75)]


def test_what_was_on_the_screen_before_the_episode_began_earns_nothing_though_it_settles_later() -> None:
    play = Played(game(), score=128)
    assert play.feed(0.25, score=ok(0, -0.25)) == []
    assert play.feed(0.5, score=4) == [Reward(7, 4, 0.5)]


def test_rewards_are_scaled_and_those_of_one_moment_add_up() -> None:
    tables = game([{"source": "score", "scale": 0.5}, {"source": "lives", "scale": 10}])
    play = Played(tables, score=0, lives=3)
    assert play.feed(1.0, score=8, lives=2) == [Reward(7, -6, 1.0)]
    assert play.feed(2.0, score=ok(10, 1.5), lives=3) == [Reward(7, 1, 1.5), Reward(7, 10, 2.0)]
    assert play.feed(3.0, score=30, lives=2) == []


@pytest.mark.parametrize("value", [None, "many"])
def test_what_is_no_number_earns_nothing_and_is_compared_with_nothing(value: Value) -> None:
    play = Played(game(), score=value)
    assert play.feed(1.0, score=10) == []
    assert play.feed(2.0, score=value) == []
    assert play.feed(3.0, score=15) == [Reward(7, 5, 3.0)]


def test_reward_is_given_only_for_what_was_first_seen_while_its_condition_held() -> None:
    play = Played(game([{"source": "score", "when": "not menu"}]), score=0, menu=False)
    assert play.feed(1.0, score=1) == [Reward(7, 1, 1.0)]
    assert play.feed(2.0, menu=True) == []
    assert play.feed(3.0, score=ok(5, 1.75)) == [Reward(7, 4, 1.75)]
    assert play.feed(4.0, score=0) == []
    assert play.feed(5.0, menu=False) == []
    assert play.feed(6.0, score=2) == [Reward(7, 2, 6.0)]


def test_event_is_a_condition_that_begins_to_hold() -> None:
    play = Played(game([{"source": "over", "give": "event", "scale": -1}]), over=True)
    assert play.first == []
    assert play.feed(1.0, over=False) == []
    assert play.feed(2.0, over=True) == [Reward(7, -1, 2.0)]
    assert play.feed(3.0, over=True) == []


def test_each_line_of_a_log_is_an_event_but_those_of_before_the_episode() -> None:
    rules = Rules(game([{"source": "hits", "give": "event", "scale": 2}]))
    rules.begin(7, 1.0)
    assert rules.feed(1.0, {"hits": ok(5, 1.001, events=3)}) == []
    assert rules.feed(1.1, {"hits": ok(5, 0.9, events=3)}) == []
    # Even if it says the same.
    again = Reading(5, -9.0, ReadingState.OK, Sample(5, 1.2), 3)
    assert rules.feed(1.2, {"hits": again}) == [Reward(7, 6, 1.2)]


def test_value_is_given_once_with_the_end() -> None:
    play = Played(game([{"source": "score", "give": "end", "scale": 0.1}], done="over"), score=0, over=False)
    assert play.feed(1.0, score=40) == []
    assert play.feed(2.0, over=True) == [Done(7, 4.0, reason="over", at=2.0)]


def test_seconds_are_given_whole_and_not_in_every_frame() -> None:
    play = Played(game([{"source": "lives", "give": "second", "scale": 2}], done="over"), lives=1, over=False)
    told = [report for frame in range(1, 65) for report in play.feed(frame * FRAME_S)]
    rewards = [report.reward for report in told if isinstance(report, Reward)]
    assert len(rewards) == len(told) <= 10
    (done,) = play.feed(65 * FRAME_S, over=True)
    assert isinstance(done, Done)
    assert sum(rewards) + done.reward == pytest.approx(2 * 65 * FRAME_S)


def test_seconds_count_only_while_the_value_and_the_condition_hold() -> None:
    play = Played(game([{"source": "lives", "give": "second", "when": "not menu"}]), lives=0, menu=False)
    assert play.feed(1.0, lives=2) == []
    assert play.feed(2.0) == [Reward(7, 1.0, 2.0)]
    assert play.feed(3.0, menu=True) == [Reward(7, 1.0, 3.0)]
    assert play.feed(4.0) == []
    assert play.feed(5.0, menu=False) == []
    assert play.feed(5.5, lives=0) == [Reward(7, 0.5, 5.5)]
    assert play.feed(9.0) == []


def test_clock_that_is_set_back_takes_no_reward_away() -> None:
    play = Played(game([{"source": "lives", "give": "second"}]), lives=1)
    assert play.feed(-5.0) == []
    assert play.feed(-4.0) == []
    assert play.feed(1.0) == [Reward(7, 6.0, 1.0)]


# ── ends ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_reason_of_an_end_is_its_key_or_else_its_condition() -> None:
    tables = game(done={"lost": "lives == 0"}, truncated={"": "menu"})
    assert Played(tables, lives=1).feed(1.0, lives=0) == [Done(7, 0.0, True, False, "lost", 1.0)]
    assert Played(tables, lives=1).feed(1.0, menu=True) == [Done(7, 0.0, False, True, "menu", 1.0)]
    assert Played(tables, lives=1).feed(1.0, menu=True, lives=0) == [Done(7, 0.0, True, False, "lost", 1.0)]


def test_end_waits_for_what_was_settling_as_it_came_and_for_nothing_else() -> None:
    tables = game(
        [{"source": "score"}, {"source": "lives", "scale": 100}, {"source": "menu", "give": "end"}], done="over"
    )
    for is_cut in (False, True):
        play = Played(tables, score=10, lives=3, menu=1, over=False)
        assert play.feed(1.0, score=pending(10, -9.0), over=True) == []
        assert play.feed(1.1, score=pending(10, -9.0), lives=9, menu=50, over=False) == []
        if is_cut:
            assert play.rules.cut(1.2, "the program crashed") == [Done(7, 1, reason="over", at=1.0)]
        else:
            assert play.feed(1.2, score=ok(12, 1.0)) == [Done(7, 2 + 1, reason="over", at=1.0)]


def test_end_waits_until_what_is_not_on_the_screen_has_been_read_once_more() -> None:
    play = Played(game([{"source": "hits"}], done="over"), hits=0, over=False)
    assert play.feed(1.0, hits=ok(0, 1.0), over=ok(True, 1.001)) == []
    # It was asked for before the end was seen, and has come only now.
    assert play.feed(1.1, hits=ok(0, 1.002)) == []
    assert play.feed(1.2, hits=ok(100, 1.2)) == [Done(7, 100, reason="over", at=1.001)]


def test_end_does_not_wait_for_ever_for_what_is_not_read_any_more() -> None:
    play = Played(game([{"source": "hits"}], done="over"), hits=0, over=False)
    assert play.feed(1.0, over=True) == []
    assert play.feed(1.0 + MAX_HOLD_S - FRAME_S) == []
    assert play.feed(1.0 + MAX_HOLD_S) == [Done(7, 0, reason="over", at=1.0)]


def test_score_that_the_game_sets_back_as_it_ends_does_not_fall_if_it_is_monotonic() -> None:
    """With real settling: the score's last points come with the end, and its 0 of the next round at once after."""
    tables = game(done="over")
    settlers = {
        name: Settler(tables.sources[name].model_copy(update={"monotonic": "up"} if name == "score" else {}))
        for name in ("score", "over")
    }
    rules = Rules(tables)
    frames: list[tuple[int, bool]] = [(0, False)] * 3 + [(10, False)] * 3 + [(15, True)] * 4 + [(0, True)] * 9
    told: list[Report] = []
    begun = False
    for frame, (score, over) in enumerate(frames):
        at = frame * FRAME_S
        readings = {name: settlers[name].feed(Sample(value, at)) for name, value in (("score", score), ("over", over))}
        if not begun and rules.ready(readings):
            begun = True
            rules.begin(7, at)
        told += rules.feed(at, readings)
    assert told == [Reward(7, 10, 3 * FRAME_S), Done(7, 5, reason="over", at=6 * FRAME_S)]


def test_end_that_comes_from_outside_is_truncated_and_gives_what_was_not_told() -> None:
    tables = game([{"source": "lives", "give": "second"}, {"source": "score", "give": "end"}])
    play = Played(tables, score=4, lives=1)
    assert play.feed(FRAME_S) == []
    assert play.rules.cut(0.5, "the program crashed") == [Done(7, 4 + FRAME_S, False, True, "the program crashed", 0.5)]
    assert play.rules.cut(0.6, "again") == []


def test_nothing_is_told_before_an_episode_begins() -> None:
    rules = Rules(game(done="over", text="score"))
    assert rules.feed(1.0, {"over": ok(True, 1.0), "score": ok(3, 1.0)}) == []
    assert rules.cut(1.0, "none") == []


# ── ready ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_game_is_ready_when_its_condition_holds() -> None:
    rules = Rules(game(ready="lives == 3 and not menu"))
    assert rules.ready({"lives": ok(3, 1.0), "menu": ok(False, 1.0)})
    assert not rules.ready({"lives": ok(3, 1.0), "menu": ok(True, 1.0)})
    assert not rules.ready({})
    assert Rules(game()).ready({})


def test_game_is_not_ready_while_it_is_over_or_may_be() -> None:
    rules = Rules(game(ready="score == 0", done={"": "over"}, truncated={"": "menu"}))
    there = {"score": ok(0, 1.0), "over": ok(False, 1.0), "menu": ok(False, 1.0)}
    assert rules.ready(there)
    assert not rules.ready({**there, "over": ok(True, 1.0)})
    assert not rules.ready({**there, "menu": ok(True, 1.0)})
    assert not rules.ready({**there, "over": pending(False, 0.0)})
    assert not rules.ready({**there, "over": Reading()})
    assert rules.ready({**there, "over": Reading(None, 0.0, ReadingState.NOTHING, Sample(None, 1.0))})


def test_what_keeps_an_episode_from_beginning_is_told_by_what_is_read_of_it() -> None:
    rules = Rules(game(ready="score == 0 and not menu", done={"": "over"}))
    read = {"score": ok(0, 1.0), "menu": Reading(), "over": ok(True, 1.0)}
    condition = "'score == 0 and not menu'"
    assert rules.why_not_ready(read) == f": {condition} is not true: menu has no reading, score is 0"
    read["menu"] = ok(False, 1.0)
    assert rules.why_not_ready(read) == ": 'over' would end it at once: over is True"
    assert rules.why_not_ready({**read, "over": ok(False, 1.0)}) == ""


# ── texts and observations ──────────────────────────────────────────────────────────────────────────────────────────


def test_text_is_told_when_it_changes_and_is_not_empty() -> None:
    play = Played(game([], text="score"), score="hello")
    assert play.first == [Text(7, "hello")]
    assert play.feed(1.0, score="hello") == []
    assert play.feed(2.0, score="") == []
    assert play.feed(3.0, score="hello") == [Text(7, "hello")]
    assert play.feed(4.0, score=12) == [Text(7, "12")]
    assert play.feed(5.0, score="x" * 5000) == [Text(7, "x" * MAX_TEXT_CHARS)]


def test_observation_is_told_when_a_part_of_it_changes_and_before_the_end() -> None:
    play = Played(game([], observation=["score", "lives"], done="lives == 3"), score=1)
    assert play.first == [Observation(7, {"score": 1, "lives": None})]
    assert play.feed(1.0, menu=True) == []
    assert play.feed(2.0, lives=3) == [
        Observation(7, {"score": 1, "lives": 3}),
        Done(7, reason="lives == 3", at=2.0),
    ]


# ── whatever is read ────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.lists(st.tuples(st.integers(-50, 50), st.booleans()), min_size=2), st.integers(1, 4), st.integers(1, 4))
def test_sum_of_the_rewards_is_the_difference_of_what_settled(
    frames: list[tuple[int, bool]], score_agree: int, over_agree: int
) -> None:
    """Over any number of episodes on end, however the sources settle, an end is told once and no point twice."""
    tables = game(done="over")
    agree = {"score": score_agree, "over": over_agree}
    settlers = {
        name: Settler(tables.sources[name].model_copy(update={"agree": count})) for name, count in agree.items()
    }
    rules = Rules(tables)
    episode, earned, baseline, over, began = 0, 0.0, None, True, 0.0
    ending = False
    for frame, (score, ended) in enumerate(frames):
        at = frame * FRAME_S
        readings = {
            "score": settlers["score"].feed(Sample(score, at)),
            "over": settlers["over"].feed(Sample(ended, at)),
        }
        if over and rules.ready(readings):
            episode, earned, baseline, over, began, ending = episode + 1, 0.0, None, False, at, False
            rules.begin(episode, at)
        if over:
            assert rules.feed(at, readings) == []
            continue
        value = readings["score"].value
        if isinstance(value, int) and (baseline is None or readings["score"].at < began):
            baseline = value
        for report in rules.feed(at, readings):
            assert isinstance(report, (Reward, Done))
            assert report.episode == episode
            assert report.at is not None
            earned += report.reward
            over = isinstance(report, Done)
        # While an end waits, what has been earned has not been told yet.
        ending = ending or readings["over"].value is True
        if isinstance(value, int) and baseline is not None and not ending:
            assert earned == value - baseline


# ── what the program says itself ────────────────────────────────────────────────────────────────────────────────────

BOTH: list[dict[str, Any]] = [{"source": "score"}, {"source": "reports"}]


def test_an_end_that_is_reported_waits_for_sources_that_settle_and_brings_its_own_reward() -> None:
    played = Played(game(BOTH), score=0)
    ended = Done(7, 2.0, True, False, "won", 1.0, {"level": 3})
    assert played.rules.hear(1.0, ended) == [Reward(7, 2.0, 1.0, source="reports")]
    assert played.feed(1.0, score=pending(0, 0.0)) == []
    assert played.rules.hear(1.1, Reward(7, 9.0, 1.05)) == []
    assert played.feed(1.1, score=4) == [Done(7, 4.0, True, False, "won", 1.0, {"level": 3}, "reports")]
    assert played.rules.hear(1.2, Reward(7, 9.0, 1.0)) == []


def test_of_two_ends_the_first_counts() -> None:
    played = Played(game(BOTH, done={"lost": "lives == 0"}), lives=1, score=0)
    assert played.feed(1.0, lives=0, score=pending(0, 0.0)) == []
    assert played.rules.hear(1.01, Reward(7, 1.0, 0.99)) == [Reward(7, 1.0, 0.99, source="reports")]
    assert played.rules.hear(1.01, Done(7, 0.5, True, False, "won", 1.01)) == [Reward(7, 0.5, 1.01, source="reports")]
    assert played.feed(1.02, score=1) == [Done(7, 1.0, True, False, "lost", 1.0)]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-3, 3)), max_size=20), st.integers(0, 20), st.booleans())
def test_all_that_is_earned_by_either_is_given_just_once(
    earned: list[tuple[int, int]], ends: int, terminated: bool
) -> None:
    played = Played(game(BOTH), score=0)
    said: list[Report] = []
    score = true = 0
    for number, (points, reported) in enumerate(earned[:ends], 1):
        at = number * FRAME_S
        said += played.rules.hear(at, Reward(7, float(reported), at)) if reported else []
        score += points
        said += played.feed(at, score=score)
        true += points + reported
    at = (len(earned) + 1) * FRAME_S
    said += played.rules.hear(at, Done(7, 1.0, terminated, not terminated, "over", at))
    said += played.feed(at)
    assert sum(report.reward for report in said if isinstance(report, Reward | Done)) == true + 1
    (done,) = [report for report in said if isinstance(report, Done)]
    assert (done.terminated, done.truncated, done.reason) == (terminated, not terminated, "over")
    assert said[-1] is done
