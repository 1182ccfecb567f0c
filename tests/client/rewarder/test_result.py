from typing import Any

import numpy as np
import pytest
from pluriverse.rewarder.result import Lags, Result

SEEN, NEXT = np.zeros((2, 2, 3), np.uint8), np.ones((2, 2, 3), np.uint8)
FIRST = Result(SEEN, ("go",), [1], 1.0, info={"lives": 3, "stats.a": 1}, reward_count=1, updates=1, lags=Lags((0, 1)))
END = Result(
    NEXT,
    ("next",),
    [9],
    2.0,
    done=True,
    terminated=True,
    info={"stats.a": 2},
    completed_id=1,
    completed_texts=("won",),
    reward_count=2,
    lags=Lags(action=(1, 2)),
)


def test_what_is_earned_and_counted_adds_up_and_the_rest_is_the_latest() -> None:
    later = Result(NEXT, (), None, 2.0, info={"lives": 2, "stats.a": 1}, reward_count=1, lags=Lags(action=(2, 3)))
    both = FIRST.merged(later)
    assert (both.reward, both.reward_count, both.updates) == (3.0, 2, 1)
    assert both.info == {"lives": 2, "stats.a": 2}
    assert (both.text, both.observation, both.lags) == ("go", [1], Lags((0, 1), action=(2, 3)))
    assert both.vision is NEXT
    assert FIRST.merged(later._replace(masked_observation=True)).vision is SEEN


@pytest.mark.parametrize(("masked", "vision"), [(False, SEEN), (True, NEXT)])
def test_an_end_shows_the_last_of_the_episode_that_ended(masked: bool, vision: Any) -> None:
    ended = FIRST.merged(END._replace(masked_observation=masked))
    assert ended.vision is vision
    assert (ended.reward, ended.text, ended.observation, ended.terminated) == (3.0, "won", [1], True)


def test_a_step_begins_with_what_the_one_before_left() -> None:
    step = FIRST._replace(elapsed=4).following()
    assert (step.vision is SEEN, step.text, step.observation, step.lives, step.elapsed) == (True, "go", [1], 3, 5)
    assert (step.reward, step.updates, step.lags) == (0.0, 0, Lags())


def test_infos_leave_out_what_is_not_known() -> None:
    info = END._replace(error="it broke").full_info()
    assert info["stats.gauges.diagnostics.lag.action"] == (1, 2)
    assert (info["error"], info["terminated"], info["env_status.complete.episode_id"]) == ("it broke", True, "1")
    assert not info.keys() & {"mask.masked.action", "stats.gauges.diagnostics.clock_skew", "peek"}
    assert END._replace(error="it broke").reported_info() == {"error": "it broke"}
