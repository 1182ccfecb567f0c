import pytest
from pluriverse_protocol.env_spaces import Choice, Spaces
from pluriverse_server.episode import Environment, Episode
from pluriverse_server.remote.status import (
    LAGS,
    MAX_RATE_FRAMES,
    PAUSED_S,
    RATE_WINDOW_S,
    FrameRate,
    Statistics,
    keys_status,
)


def noted(*frames: tuple[int, float]) -> FrameRate:
    rate = FrameRate()
    for count, at in frames:
        rate.note(count, at)
    return rate


def test_rate_is_frames_by_time_however_seldom_the_program_reports_them() -> None:
    assert noted((0, 10.0), (30, 10.5), (60, 11.0)).rate(11.0) == pytest.approx(60.0)
    assert noted((0, 10.0), (15, 11.0)).rate(11.0) == pytest.approx(15.0)


def test_rate_is_of_the_last_seconds_alone() -> None:
    frames = [(index, index / 60) for index in range(600)]
    slow = [(600 + index, 10 + index / 10) for index in range(30)]
    assert noted(*frames, *slow).rate(13.0) == pytest.approx(10.0)


def test_too_little_is_known_of_one_frame_none_or_of_two_at_once() -> None:
    assert noted().rate(1.0) is None
    assert noted((1, 1.0)).rate(1.0) is None
    assert noted((1, 1.0), (2, 1.0)).rate(1.0) is None


def test_rate_of_a_program_that_stopped_is_soon_unknown() -> None:
    rate = noted((0, 10.0), (60, 11.0))
    assert rate.rate(11.0 + RATE_WINDOW_S) is not None
    assert rate.rate(11.1 + RATE_WINDOW_S) is None


def test_next_episode_begins_to_count_anew() -> None:
    rate = noted((0, 10.0), (60, 11.0), (1, 11.1))
    assert rate.rate(11.1) is None
    rate.note(31, 11.6)
    assert rate.rate(11.6) == pytest.approx(60.0)


def test_clock_that_stands_still_costs_no_memory() -> None:
    rate = noted(*((count, 10.0) for count in range(MAX_RATE_FRAMES * 2)))
    assert rate.rate(10.0) is None
    assert len(rate._frames) == MAX_RATE_FRAMES  # pyright: ignore[reportPrivateUsage]


def test_shown_lag_is_the_median_of_the_last_ones() -> None:
    statistics = Statistics()
    assert statistics.reward_lag_ms is None
    for _ in range(LAGS):
        statistics.reward_lags_s.append(9.0)
    for lag_s in [0.001] * (LAGS // 2) + [0.002] * (LAGS // 2):
        statistics.reward_lags_s.append(lag_s)
    assert statistics.reward_lag_ms == pytest.approx(1.5)


def test_running_episode_is_shown_with_its_reward_and_how_long_it_has_run() -> None:
    episode = Episode(3, Environment("toy"), 7, 50.0, picture=(0, 0, 160, 210), started_at=100.0, reward=2.5, frames=9)
    status = Statistics().episode_status(episode, "running", now=101.5)
    shown = {key: status[key] for key in ("env_id", "env_state", "episode_id", "episode_reward", "fps", "frames")}
    assert shown == {
        "env_id": "toy",
        "env_state": "running",
        "episode_id": "3",
        "episode_reward": 2.5,
        "fps": 50.0,
        "frames": 9,
    }
    assert status["episode_seconds"] == 1.5
    assert status["picture"] == [0, 0, 160, 210]
    assert Statistics().episode_status(episode, "running", now=99.0)["episode_seconds"] == 0.0


def test_time_of_an_episode_in_lockstep_is_that_of_its_frames_and_pauses_with_them() -> None:
    environment = Environment("toy", clock="lockstep")
    episode = Episode(3, environment, 7, 50.0, started_at=100.0, frames=75)
    statistics = Statistics()
    statistics.stepped_at = 110.0
    running, paused = (statistics.episode_status(episode, "running", now) for now in (110.0 + PAUSED_S, 200.0))
    assert running["episode_seconds"] == paused["episode_seconds"] == 1.5
    assert (running["paused"], paused["paused"]) == (False, True)
    assert not statistics.episode_status(episode, "resetting", 200.0)["paused"]


def test_keys_of_an_environment_are_named_by_what_they_do_alone() -> None:
    choices = (Choice("noop", ()), Choice("left", (1,)), Choice("fire left", (1, 2)))
    assert keys_status(Spaces(discrete=choices, step=9)) == [(1, "left"), (2, ""), (9, "step")]
    assert keys_status(None) == []


def test_newest_reading_of_each_source_is_shown_with_its_region() -> None:
    statistics = Statistics()
    statistics.readings.update({"score": {"value": 1}, "lives": {"value": 3}, "foreign": {"value": 0}})
    statistics.readings.update({"score": {"value": 2}})
    shown = statistics.sources_status({"score": [0, 0, 8, 8], "lives": None, "unread": None})
    assert shown == {"score": {"value": 2, "region": [0, 0, 8, 8]}, "lives": {"value": 3, "region": None}}
    statistics.readings.clear()
    assert statistics.sources_status({"score": None}) == {}
