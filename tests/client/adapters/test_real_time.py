from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse.adapters.backend import Phase, require_ready
from pluriverse.adapters.real_time import LOOK_S, STALL_S, Player
from pluriverse.errors import Misuse, ResetNeeded
from pluriverse.rewarder.result import Result

FPS = 50.0
BLANK = np.zeros((4, 6, 3), np.uint8)


def screen(value: int) -> Any:
    return np.full((4, 6, 3), value, np.uint8)


def look(
    value: int | None = 1,
    *,
    clock: float | None = None,
    updates: int = 1,
    reward: float = 0.0,
    text: str = "",
    state: Any = None,
    **info: Any,
) -> Result:
    """What a look brings: a screen full of ``value`` (None: masked), painted at ``clock``."""
    vision = None if value is None else screen(value)
    texts, masked = (text,) if text else (), value is None
    seen = Result(vision, texts, state, reward, masked_observation=masked, updates=updates, info=info)
    return seen._replace(image_remote_time=clock)


def end(*, terminated: bool = True, value: int | None = None, error: str | None = None, **options: Any) -> Result:
    ends = {"done": True, "terminated": terminated, "truncated": not terminated, "completed_id": 1, "error": error}
    return look(value, **options)._replace(**ends)


def asked(**options: Any) -> Player:
    """A player whose episode has been asked for."""
    player = Player(BLANK, fps=FPS, **options)
    player.reset()
    return player


def playing(**options: Any) -> Player:
    """One whose episode has shown its first frame at clock 100."""
    player = asked(**options)
    assert player.take(look(1, clock=100.0), now=0.0) is not None
    return player


def take(player: Player, *looks: Result, now: float = 0.0) -> Result:
    """The turn that the last of the looks makes."""
    *early, last = looks
    for each in early:
        assert player.take(each, now) is None
    turn = player.take(last, now)
    assert turn is not None
    return turn


def test_first_turn_comes_with_the_first_frame() -> None:
    player = asked()
    turn = take(player, look(None), look(None, reward=0.0), look(3, text="go", state=[1.0]))
    assert (turn.first, turn.reward, turn.elapsed, turn.text, turn.observation) == (True, 0.0, 0, "go", [1.0])
    assert turn.picture[0, 0, 0] == 3
    assert player.phase is Phase.READY


def test_reward_that_came_with_the_first_frame_belongs_to_the_first_step() -> None:
    player = asked()
    take(player, look(None, reward=1.0), look(1, clock=100.0, reward=2.0))
    player.act(0.0)
    assert take(player, look(1, clock=100.02, reward=4.0)).reward == 7.0


def test_episode_that_ended_before_it_was_seen_is_nobodys() -> None:
    player = asked()
    first = take(player, look(None, reward=5.0), end(reward=3.0), look(1, clock=100.0))
    assert not first.terminated
    player.act(0.0)
    assert take(player, look(1, clock=100.02)).reward == 0.0


@given(st.integers(1, 8))
def test_step_lasts_as_many_frames_as_are_to_be_skipped(frame_skip: int) -> None:
    player = playing(frame_skip=frame_skip)
    player.act(0.0)
    clocks = [100.0 + frame / FPS for frame in range(frame_skip + 1)]
    take(player, *(look(1, clock=clock) for clock in clocks))
    assert player.phase is Phase.READY


@pytest.mark.parametrize("updates", [0, 1, 5])
def test_step_without_a_clock_lasts_its_frames_however_many_updates_come(updates: int) -> None:
    player = asked(frame_skip=3)
    take(player, look(1), now=10.0)
    player.act(10.01)
    assert player.due_at == pytest.approx(10.0 + 3 / FPS)
    assert player.take(look(1, updates=updates), now=10.059) is None
    assert player.take(look(1, updates=updates), now=10.061) is not None


def test_step_whose_clock_can_not_be_read_any_more_lasts_its_frames() -> None:
    player = playing()
    player.act(0.0)
    assert player.take(look(1), now=0.019) is None
    assert player.due_at == pytest.approx(1 / FPS)
    assert player.take(look(1), now=0.021) is not None


@given(
    st.lists(st.floats(0.0, 0.009), min_size=50, max_size=50),
    st.integers(1, 4),
)
def test_rate_without_a_clock_is_exact_however_late_the_agent_is_by_less_than_half_a_frame(
    late: list[float], frame_skip: int
) -> None:
    player = asked(frame_skip=frame_skip)
    take(player, look(1), now=0.0)
    now = 0.0
    for late_s in late:
        player.act(now)
        now = player.due_at + late_s
        take(player, look(1), now=now)
    assert now == pytest.approx(len(late) * frame_skip / FPS, abs=0.01)


@given(st.lists(st.floats(0.0, 0.009), min_size=101, max_size=101), st.sampled_from([1, 2, 3, 5]))
def test_rate_by_the_painted_clock_is_exact_however_often_it_is_painted(late: list[float], times: int) -> None:
    player = asked()
    frames = [100.0 + (frame + late_s * FPS) / (FPS * times) for frame, late_s in enumerate(late)]
    take(player, look(1, clock=frames[0]))
    steps = 0
    player.act(0.0)
    for clock in frames[1:]:
        if player.take(look(1, clock=clock), now=0.0) is not None:
            steps += 1
            player.act(0.0)
    assert steps == pytest.approx((len(frames) - 1) / times, abs=1)


def test_clock_that_was_set_back_costs_one_stall() -> None:
    player = playing()
    player.act(0.0)
    assert player.take(look(1, clock=50.0), now=0.1) is None
    take(player, look(1, clock=50.6), now=0.1 + STALL_S)
    player.act(0.6)
    take(player, look(1, clock=50.64), now=0.64)


def test_agent_that_was_late_goes_on_from_there() -> None:
    player = asked()
    take(player, look(1), now=0.0)
    player.act(3.0)
    take(player, look(1), now=3.0)
    player.act(3.0)
    assert player.take(look(1), now=3.0) is None
    assert 3.0 < player.due_at <= 3.0 + 1 / FPS


def test_step_of_a_remote_that_stalls_ends_all_the_same() -> None:
    player = playing()
    player.act(10.0)
    assert player.take(look(1, clock=100.0), now=9.99 + STALL_S) is None
    assert player.take(look(1, clock=100.0), now=10.01 + STALL_S) is not None


def test_environment_that_shows_nothing_is_looked_at_now_and_then_once_its_step_is_overdue() -> None:
    player = playing()
    player.act(10.0)
    due_at = player.due_at
    assert player.take(look(None), now=due_at - 0.1) is None
    assert player.due_at == due_at
    assert player.take(look(None), now=due_at) is None
    assert player.due_at == due_at + LOOK_S


def test_text_and_state_stay_until_there_are_others() -> None:
    player = playing()
    player.act(0.0)
    take(player, look(1, clock=100.02, text="turn left", state=[1]))
    player.act(0.0)
    turn = take(player, look(1, clock=100.04))
    assert (turn.text, turn.observation) == ("turn left", [1])
    player.reset()
    turn = take(player, look(1, clock=200.0))
    assert (turn.text, turn.observation) == ("", None)


def test_outcome_terminates_and_shows_the_last_of_the_old_episode() -> None:
    player = playing()
    player.act(0.0)
    turn = player.take(end(reward=1.0)._replace(vision=screen(9)), now=0.0)
    assert turn is not None
    assert (turn.terminated, turn.truncated, turn.reward, turn.lost) == (True, False, 1.0, False)
    assert turn.picture[0, 0, 0] == 9
    assert player.remote_ended_episode


def test_picture_that_came_with_the_end_is_the_next_episodes() -> None:
    player = playing()
    player.act(0.0)
    turn = player.take(end(value=9), now=0.0)
    assert turn is not None
    assert turn.picture[0, 0, 0] == 1


def test_own_limit_of_steps_truncates_an_episode_that_goes_on_remotely() -> None:
    player = playing(max_episode_steps=2)
    player.act(0.0)
    assert not take(player, look(1, clock=100.02)).truncated
    player.act(0.0)
    turn = take(player, look(1, clock=100.04))
    assert (turn.truncated, turn.terminated, turn.elapsed) == (True, False, 2)
    assert player.phase is Phase.ENDED
    assert not player.remote_ended_episode


def test_acting_at_the_wrong_time_says_the_rule() -> None:
    player = Player(BLANK, fps=FPS)
    with pytest.raises(ResetNeeded, match="environment 3 has not been reset"):
        require_ready(player.phase, 3)
    player.reset()
    with pytest.raises(Misuse, match="has not answered"):
        require_ready(player.phase, 3)
    take(player, look(1))
    require_ready(player.phase, 3)
    player.act(0.0)
    with pytest.raises(Misuse, match="has not answered"):
        require_ready(player.phase, 3)
    take(player, end())
    with pytest.raises(ResetNeeded, match="is over"):
        require_ready(player.phase, 3)


def test_lives_are_in_every_turn_until_the_next_episode() -> None:
    player = asked()
    assert take(player, look(None, lives=5), look(1, clock=100.0)).info["lives"] == 5
    player.act(0.0)
    assert take(player, look(1, clock=100.02)).info["lives"] == 5
    player.act(0.0)
    assert take(player, look(1, clock=100.02, lives=4), look(1, clock=100.04)).info["lives"] == 4
    player.reset()
    assert "lives" not in take(player, look(1, clock=200.0)).info
