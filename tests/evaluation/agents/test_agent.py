from typing import Any

import pytest
from pluriverse.adapters.computer import Press, Wait
from pluriverse.errors import ActionError, ConfigurationError
from pluriverse_eval.agents import Seen, hold, open_agent
from pluriverse_eval.agents.agent import do, loop
from pluriverse_eval.modes import parse_modes
from pluriverse_eval.play import Play

pytestmark = pytest.mark.display

(PAUSED,) = parse_modes("paused")
UP = 0xFF52


@pytest.mark.parametrize(
    ("decided", "frames"),
    [(None, 1), (2, 1), (hold(3, 5), 5), (Wait(0.1), 6), ([Press((UP,)), Wait(0.1)], 10), ((Wait(0.05),), 3)],
)
def test_decision_takes_its_frames(play: Play, decided: Any, frames: int) -> None:
    play.start(0, PAUSED)
    do(play, decided)
    assert play.ms == pytest.approx(frames * play.frame_ms)


@pytest.mark.parametrize("decided", ["jump", 6, 1.5, [1, 2], hold(-1)])
def test_decision_that_is_none_is_refused_and_nothing_is_done(play: Play, decided: Any) -> None:
    play.start(0, PAUSED)
    with pytest.raises(ActionError):
        do(play, decided)
    assert play.ms == 0


def test_agent_sees_the_game_its_time_and_what_was_earned_until_it_is_over(play: Play) -> None:
    play.start(0, PAUSED)
    seen: list[Seen] = []
    loop(play, lambda each: seen.append(each) or hold(2, 6))
    assert [each.first for each in seen] == [True] + [False] * 9
    assert [each.ms for each in seen] == pytest.approx([100 * number for number in range(10)])
    assert all(each.picture.shape == (210, 160, 3) for each in seen)
    assert sum(each.reward for each in seen) + play.standing().reward == play.total_reward


@pytest.mark.parametrize("name", ["", "clever", "random:2", "openai:", "mcp:", "nowhere:agent", ":agent"])
def test_agent_that_is_not_there_is_refused_with_what_there_is(name: str) -> None:
    with pytest.raises(ConfigurationError, match="--agent"):
        open_agent(name)
