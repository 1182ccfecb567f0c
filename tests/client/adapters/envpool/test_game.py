from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse.adapters.actions import IDLE, ActionMap
from pluriverse.adapters.envpool.config import Config
from pluriverse.adapters.envpool.game import Game, Opening, Row, opening_of
from pluriverse.errors import ConfigurationError
from pluriverse.rewarder.result import Result
from pluriverse_protocol.env_spaces import Choice, Spaces

ATARI = Config(max_episode_steps=27000)
PLAIN = Config(task="x.Y-v0", noop_max=0, frame_skip=1, use_fire_reset=False)
BLANK = np.zeros((1, 1, 3), np.uint8)


class Named(Game):
    """A game whose rows have names."""

    def begun(self, result: Result) -> Any:
        return named(super().begun(result))

    def take(self, result: Result) -> Any:
        return named(super().take(result))


def named(row: Row) -> SimpleNamespace:
    names = "elapsed", "step_type", "lives", "terminated", "reward", "discount", "earned", "done", "truncated", "lost"
    return SimpleNamespace(**dict(zip(names, row, strict=True)))


def turn(lives: Any = None, **fields: Any) -> Result:
    return Result(BLANK, info={} if lives is None else {"lives": lives}, **fields)


def game(config: Config = ATARI, seed: int = 1, **options: Any) -> Named:
    return Named(config._replace(**options), seed, Opening(noop=0, fire=1))


def begun(config: Config = ATARI, lives: Any = None, **options: Any) -> Named:
    made = game(config, **options)
    made.begun(turn(lives, first=True))
    return made


def test_limit_of_steps_truncates_and_the_next_begins_anew() -> None:
    made = begun(max_episode_steps=2)
    assert not made.take(turn()).done
    last = made.take(turn())
    assert (last.elapsed, last.done, last.truncated, last.discount) == (2, True, True, 0.0)
    assert made.done
    assert not made.goes_on
    first = made.begun(turn(first=True))
    assert (first.step_type, first.elapsed, first.reward, first.done) == (0, 0, 0.0, False)


def test_outcome_is_not_truncated_and_a_lost_remote_is() -> None:
    over = begun().take(turn(done=True, terminated=True))
    assert (over.done, over.terminated, over.truncated) == (True, True, False)
    lost = begun().take(turn(done=True, truncated=True, error="it broke"))
    assert (lost.done, lost.terminated, lost.truncated, lost.lost) == (True, False, True, True)


def test_clipped_reward_is_a_sign_and_the_earned_one_is_told() -> None:
    made = begun(reward_clip=True)
    rows = [made.take(turn(reward=reward)) for reward in (7.0, -2.5, 0.0)]
    assert [row.reward for row in rows] == [1.0, -1.0, 0.0]
    assert [row.earned for row in rows] == [7.0, -2.5, 0.0]
    assert begun().take(turn(reward=7.0)).reward == 7.0


def test_lost_life_ends_an_episode_and_the_remotes_goes_on() -> None:
    made = begun(lives=3, episodic_life=True)
    assert not made.take(turn(3)).done
    died = made.take(turn(lives=2))
    assert (died.done, died.truncated, died.terminated, died.lives) == (True, False, False, 2)
    assert made.goes_on
    # As in EnvPool, the steps are counted on.
    again = made.begun(turn(lives=2))
    assert (again.elapsed, again.lives) == (2, 2)
    assert made.take(turn(2)).elapsed == 3


def test_lost_life_alone_changes_nothing_unless_asked_for() -> None:
    row = begun(lives=3).take(turn(lives=2))
    assert (row.done, row.discount) == (False, 1.0)
    row = begun(lives=3, zero_discount_on_life_loss=True).take(turn(lives=2))
    assert (row.done, row.discount) == (False, 0.0)


def test_last_life_and_a_life_that_is_won_have_no_discount_either_and_the_first_that_is_heard_of_has() -> None:
    made = begun(lives=1, zero_discount_on_life_loss=True)
    assert [made.take(turn(lives)).discount for lives in (2, 2, 0, 0)] == [0.0, 1.0, 0.0, 1.0]
    made = begun(zero_discount_on_life_loss=True)
    assert [made.take(turn(lives)).discount for lives in (None, 3, 3)] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("lives", ["three", -1, float("nan"), 2**31, [3]])
def test_lives_that_are_no_number_of_them_are_none(lives: Any) -> None:
    assert begun(lives=lives).take(turn(lives)).lives == 0


def test_opening_is_some_no_ops_and_the_fire_button() -> None:
    made = game(frame_skip=4, noop_max=30)
    openings = [made.opening() for _ in range(200)]
    assert all(opening[-1] == 1 and set(opening[:-1]) <= {0} for opening in openings)
    assert {len(opening) for opening in openings} == set(range(1, 10))  # up to 29 frames of no-op, in steps of 4
    assert game(PLAIN).opening() == []
    assert Game(ATARI, 1, Opening(noop=0)).opening().count(0) >= 1


@given(st.integers(0, 2**31 - 1))
def test_same_seed_draws_the_same(seed: int) -> None:
    first, second = game(seed=seed), game(seed=seed)
    assert first.seed() == second.seed() == seed
    assert [first.seed() for _ in range(3)] == [second.seed() for _ in range(3)]
    assert first.opening() == second.opening()


def test_sticky_action_is_the_one_before() -> None:
    made = begun(PLAIN, repeat_action_probability=1.0)
    assert [made.choose(action) for action in (3, 2, 5)] == [3, 3, 3]
    made.begun(turn())
    assert made.choose(4) == 4
    made = begun(PLAIN, repeat_action_probability=0.5)
    wanted = [number % 6 for number in range(300)]
    done = [made.choose(action) for action in wanted]
    assert all(each in (want, before) for each, want, before in zip(done[1:], wanted[1:], done, strict=False))
    assert 100 < sum(each == want for each, want in zip(done, wanted, strict=True)) < 200


def test_remotes_atari_repeats_actions_itself() -> None:
    made = begun(repeat_action_probability=1.0)
    assert [made.choose(action) for action in (3, 2)] == [3, 2]


def actions(*, tap: bool = False, kind: Any = "discrete") -> ActionMap:
    choices = (Choice("NOOP", ()), Choice("FIRE", (122,)))
    return ActionMap(Spaces(discrete=choices, tap=tap, keys=(122,), pointer=True), (0, 0, 9, 9), kind)


def test_no_op_holds_no_keys_a_row_of_zeros_or_nothing_at_all() -> None:
    assert opening_of(actions(), ATARI) == Opening(IDLE, 1)
    assert opening_of(actions(kind="keys"), ATARI).noop.tolist() == [0]
    assert opening_of(actions(kind="pointer"), ATARI) == Opening({})


def test_no_ops_are_refused_where_every_action_is_a_move() -> None:
    assert opening_of(actions(tap=True), PLAIN) == Opening()
    with pytest.raises(ConfigurationError, match="every action"):
        opening_of(actions(tap=True), PLAIN._replace(noop_max=3))
