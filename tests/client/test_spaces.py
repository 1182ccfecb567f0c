from pluriverse.env.actions import parse_actions
from pluriverse.spaces import ChoiceSpace, DiscreteSpace, EventSpace, ObservationSpace
from pluriverse_protocol.events import KeyEvent, PointerEvent


def test_sampled_events_are_actions_on_the_screen() -> None:
    space = EventSpace(100, 50)
    space.seed(1)
    samples = [space.sample() for _ in range(500)]
    parse_actions(samples, 500)
    for (event,) in samples:
        if isinstance(event, PointerEvent):
            assert event.x < 100
            assert event.y < 50
    assert {type(event) for (event,) in samples} == {KeyEvent, PointerEvent}
    space.seed(1)
    assert samples == [space.sample() for _ in range(500)]


def test_discrete_and_choice_spaces_contain_what_they_sample() -> None:
    actions = [[KeyEvent(1, True)], [KeyEvent(1, False)]]
    discrete, choice = DiscreteSpace(actions), ChoiceSpace(actions)
    for space in (discrete, choice):
        space.seed(3)
        sample = space.sample()
        assert space.contains(sample)
    assert not discrete.contains(2)
    assert not discrete.contains(True)
    assert not choice.contains([KeyEvent(2, True)])


def test_observation_is_none_or_has_a_picture_and_texts() -> None:
    space = ObservationSpace()
    assert space.contains(None)
    assert space.contains({"vision": None, "text": []})
    assert not space.contains({"text": []})
    assert not space.contains([])
