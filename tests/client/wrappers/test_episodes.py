import time

import pytest
from pluriverse.errors import ConfigurationError
from pluriverse.wrappers import EpisodeID, TimeLimit
from support.scripted import Result, Script, ScriptedEnv, seen


def test_episodes_are_numbered_through_all_indices_up_to_the_limit() -> None:
    going: Result = (seen(), 0.0, False, {})
    ending: Result = (None, 1.0, True, {})
    env = ScriptedEnv(Script([ending, going, ending]), Script([going, ending, going]))
    numbered = EpisodeID(env, limit=3)
    numbered.reset()
    numbers: list[list[int | None]] = []
    finished: list[bool] = []
    for _ in range(3):
        info = numbered.step([[], []])[3]
        numbers.append([info_i["vectorized.episode_id"] for info_i in info["n"]])
        finished.append(info["vectorized.finished"])
    assert numbers == [[0, 1], [2, 1], [2, None]]
    assert finished == [False, False, True]


def test_episode_of_so_many_steps_is_truncated_and_the_others_go_on() -> None:
    late = Script([(None, 0.0, False, {})] * 2)
    env = ScriptedEnv(Script([(seen(), 1.0, False, {"env_status.episode_id": "7"})] * 3), late)
    limited = TimeLimit(env, steps=3)
    limited.reset()
    for _ in range(2):
        assert limited.step([[], []])[2] == [False, False]
    observation_n, reward_n, done_n, info = limited.step([[], []])
    assert (reward_n, done_n) == ([1.0, 0.0], [True, False])
    assert observation_n[0] is None
    assert observation_n[1] is not None
    assert info["n"][0]["truncated"] is True
    assert info["n"][0]["terminated"] is False
    assert info["n"][0]["TimeLimit.truncated"] is True
    assert info["n"][0]["env_status.complete.episode_id"] == "7"
    assert env.truncated == [0]
    assert limited.step([[], []])[2] == [False, False]


def test_outcome_at_the_limit_stays_an_outcome() -> None:
    env = ScriptedEnv(Script([(seen(), 0.0, False, {}), (None, 0.0, True, {"terminated": True, "truncated": False})]))
    limited = TimeLimit(env, steps=2)
    limited.reset()
    limited.step([[]])
    info = limited.step([[]])[3]
    assert info["n"][0] == {"terminated": True, "truncated": False}
    assert not env.truncated


def test_seconds_count_from_the_first_picture() -> None:
    env = ScriptedEnv(Script([(None, 0.0, False, {})]))
    limited = TimeLimit(env, seconds=0.05)
    limited.reset()
    limited.step([[]])
    time.sleep(0.06)
    assert limited.step([[]])[2] == [False]
    time.sleep(0.06)
    assert limited.step([[]])[2] == [True]


def test_limit_is_needed() -> None:
    with pytest.raises(ConfigurationError, match="at least one"):
        TimeLimit(ScriptedEnv())
    with pytest.raises(ConfigurationError, match="above 0"):
        TimeLimit(ScriptedEnv(), steps=0)
