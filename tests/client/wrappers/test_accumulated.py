from typing import Any

from pluriverse.spaces import PEEK_REWARD
from pluriverse.wrappers.accumulated import Accumulated
from support.scripted import seen


def step(observation: Any, reward: float, done: bool, **info: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
    return [observation], [reward], [done], {"n": [info]}


def test_rewards_and_counts_add_up_and_the_picture_is_the_last() -> None:
    sum_ = Accumulated.of(step(seen(1, "a"), 1.0, False, **{"stats.reward.count": 1, "x": 1}))
    sum_.add(step(seen(2, "b"), 2.0, False, **{"stats.reward.count": 2, "x": 2}))
    (observation,), reward_n, done_n, info = sum_.result()
    assert observation is not None
    assert observation["vision"] is not None
    assert observation["vision"].max() == 2
    assert observation["text"] == ["a", "b"]
    assert (reward_n, done_n) == ([3.0], [False])
    assert info["n"] == [{"stats.reward.count": 3, "x": 2}]


def test_done_index_is_only_looked_at_afterwards() -> None:
    sum_ = Accumulated.of(step(None, 1.0, True, truncated=True))
    assert sum_.looks() == [[PEEK_REWARD]]
    assert sum_.without_done([["up"]]) == [["up", PEEK_REWARD]]
    sum_.add(step(seen(3), 0.0, False, **{"peek": True, "env_status.peek.episode_id": "2"}))
    (observation,), reward_n, done_n, info = sum_.result()
    assert observation is not None
    assert (reward_n, done_n) == ([1.0], [True])
    assert info["n"] == [{"truncated": True}]


def test_texts_of_an_episode_that_ended_are_dropped() -> None:
    sum_ = Accumulated.of(step(seen(1, "old"), 0.0, False))
    sum_.add(step(seen(2, "new"), 1.0, True))
    observation = sum_.observation_n[0]
    assert observation is not None
    assert observation["text"] == ["new"]


def test_masks_are_those_of_the_last_step_and_of_the_agents_own_action() -> None:
    sum_ = Accumulated.of(step(None, 0.0, False, **{"mask.masked.observation": True}))
    sum_.add(step(seen(), 0.0, False, **{"mask.masked.action": True}))
    assert sum_.info_n == [{}]
    sum_.add(step(seen(), 0.0, False, **{"mask.masked.action": True}), acted=True)
    assert sum_.info_n == [{"mask.masked.action": True}]


def test_remote_is_away_no_more_once_a_later_step_does_not_say_so() -> None:
    sum_ = Accumulated.of(step(None, 0.0, False, **{"env_status.reconnecting": True}))
    sum_.add(step(seen(), 0.0, False))
    assert sum_.info_n == [{}]


def test_remote_that_is_away_is_not_awaited() -> None:
    sum_ = Accumulated(3)
    info = [{}, {"env_status.disconnected": True}, {"error": "it broke"}]
    sum_.add(([None] * 3, [0.0] * 3, [False, False, True], {"n": info}))
    assert sum_.awaited == [0]
