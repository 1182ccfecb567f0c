from pluriverse_protocol.episodes import TRANSITIONS, Event, State

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
