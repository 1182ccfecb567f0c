import pytest
from pluriverse_protocol.episodes import TRANSITIONS, Event, State, Step

# What can't happen: there is no episode before the first reset, only one that is beginning can be joined, and the
# time of one that doesn't run isn't counted.
IMPOSSIBLE = {
    *((State.IDLE, event) for event in Event if event is not Event.RESET),
    (State.RESETTING, Event.TIME_LIMIT),
    (State.RUNNING, Event.JOIN),
}


def test_the_table_has_every_pair_that_can_happen_and_no_other() -> None:
    assert set(TRANSITIONS) == {(state, event) for state in State for event in Event} - IMPOSSIBLE


def test_states_are_env_state_on_the_wire() -> None:
    assert [state.value for state in State] == [None, "resetting", "running"]


@pytest.mark.parametrize("pair", TRANSITIONS)
def test_leaving_a_running_episode_ends_it_and_begins_the_next_in_this_order(pair: tuple[State, Event]) -> None:
    after, steps = TRANSITIONS[pair]
    if pair[0] is State.RUNNING and after is State.RESETTING:
        assert steps == (Step.END, Step.BEGIN)
    else:
        assert Step.END not in steps


@pytest.mark.parametrize("pair", TRANSITIONS)
def test_running_is_only_reached_from_resetting_and_described_then(pair: tuple[State, Event]) -> None:
    after, steps = TRANSITIONS[pair]
    assert (Step.RUN in steps) == (after is State.RUNNING and pair[0] is not State.RUNNING)
    assert after is not State.IDLE
