import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from pluriverse.adapters.computer.acts import (
    Act,
    ActFor,
    Click,
    Drag,
    Hold,
    Look,
    Mark,
    Move,
    Press,
    Scroll,
    Type,
    Wait,
    Where,
)
from pluriverse.adapters.computer.script import Hand, Script
from pluriverse.adapters.computer.view import View
from pluriverse.errors import ActionError
from pluriverse.vnc.connection import InputState
from pluriverse_protocol.events import Event, KeyEvent, PointerEvent, RelativePointerEvent

VIEW = View((10, 20, 400, 200), 200, 100)
SHIFT, CTRL, A = 0xFFE1, 0xFFE3, 0x61

points = st.tuples(st.integers(0, 199), st.integers(0, 99))
chords = st.lists(st.sampled_from([SHIFT, CTRL, A, 0x62]), max_size=3, unique=True).map(tuple)
acts: st.SearchStrategy[Act] = st.one_of(
    st.builds(Move, points, chords),
    st.builds(
        Click,
        st.sampled_from(["left", "middle", "right", "back", "forward"]),
        points | st.none(),
        st.integers(1, 3),
        chords,
    ),
    st.builds(Drag, st.lists(points, min_size=2, max_size=5).map(tuple), chords),
    st.builds(Scroll, st.integers(-5, 5), st.integers(-5, 5), points | st.none(), chords),
    st.builds(Type, st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=10)),
    st.builds(Press, chords, st.integers(1, 3), st.floats(0, 1) | st.none()),
    st.builds(Wait, st.floats(0, 2)),
    st.builds(Look),
    st.builds(Where),
)


@pytest.mark.parametrize(
    "act", [Move(Mark(2)), Click(at=Mark(2)), Drag((Mark(2), (3, 3), Mark(2))), Scroll(0, 1, Mark(2))]
)
def test_a_mark_stands_for_where_it_is_on_the_screen(act: Act) -> None:
    hand = Hand(VIEW)
    with pytest.raises(ActionError, match="no marks yet"):
        hand.plan(act)
    hand.marks = {1: (11, 22)}
    with pytest.raises(ActionError, match="no mark 2; those that were given last are 1 to 1"):
        hand.plan(act)
    hand.marks = {1: (11, 22), 2: (301, 77)}
    _, event = hand.plan(act).events[0]
    assert event == PointerEvent(301, 77, 0)
    assert (hand.pointer.x, hand.pointer.y) == (301, 77)


def planned(*given: Act) -> list[Event]:
    hand = Hand(VIEW)
    return [event for act in given for _, event in hand.plan(act).events]


@given(st.lists(acts, max_size=5))
def test_whatever_is_done_ends_with_nothing_held_and_times_in_order(given: list[Act]) -> None:
    hand, held = Hand(VIEW), InputState()
    for act in given:
        script = hand.plan(act)
        times = [at for at, _ in script.events]
        assert times == sorted(times)
        assert all(0 <= at <= script.ms for at in times)
        held.note(event for _, event in script.events if isinstance(event, KeyEvent | PointerEvent))
        assert held.releases() == []


@given(acts, st.floats(5, 200))
def test_frames_have_all_events_in_order_and_each_key_changes_once_a_frame(act: Act, frame_ms: float) -> None:
    script = Hand(VIEW).plan(act)
    frames = script.frames(frame_ms)
    assert [event for frame in frames for event in frame] == [event for _, event in script.events]
    assert len(frames) >= max(1, script.ms / frame_ms - 1)
    for frame in frames:
        keys = [event.keysym for event in frame if isinstance(event, KeyEvent)]
        assert len(keys) == len(set(keys))
        for button in (1, 2, 4, 128):
            masks = [event.buttonmask & button for event in frame if isinstance(event, PointerEvent)]
            changes = sum(before != after for before, after in pairwise(masks))
            assert changes <= 1


def test_a_click_goes_there_and_presses_between_its_modifiers() -> None:
    assert planned(Click("right", (0, 0), holding=(CTRL, SHIFT))) == [
        PointerEvent(11, 21, 0),
        KeyEvent(CTRL, True),
        KeyEvent(SHIFT, True),
        PointerEvent(11, 21, 4),
        PointerEvent(11, 21, 0),
        KeyEvent(SHIFT, False),
        KeyEvent(CTRL, False),
    ]


def test_in_lockstep_a_double_click_is_in_one_frame() -> None:
    frames = Hand(VIEW, lockstep=True).plan(Click("left", (0, 0), 2, (SHIFT,))).frames(1000 / 60)
    (clicks,) = [frame for frame in frames if PointerEvent(11, 21, 1) in frame]
    assert [event.buttonmask for event in clicks if isinstance(event, PointerEvent)] == [1, 0, 1, 0]
    assert KeyEvent(SHIFT, False) in frames[-1]


def test_a_button_that_is_held_stays_held_while_the_pointer_moves() -> None:
    masks = [
        event.buttonmask for event in planned(Hold(True), Move((3, 3)), Hold(False)) if isinstance(event, PointerEvent)
    ]
    assert masks == [1, 1, 0]


def test_a_drag_goes_along_its_path() -> None:
    held = [event for event in planned(Drag(((0, 0), (10, 0), (10, 10)))) if isinstance(event, PointerEvent)]
    assert [(event.x, event.y) for event in held if event.buttonmask] == [(11, 21), (31, 21), (31, 41)]
    assert held[-1] == PointerEvent(31, 41, 0)


@pytest.mark.parametrize(
    ("act", "mask"), [(Scroll(0, -3), 8), (Scroll(0, 3), 16), (Scroll(-3, 0), 32), (Scroll(3, 0), 64)]
)
def test_the_wheel_turns_by_clicks(act: Scroll, mask: int) -> None:
    assert [event.buttonmask for event in planned(act) if isinstance(event, PointerEvent)] == [mask, 0] * 3


def test_a_text_is_written_character_by_character() -> None:
    keys = [event.keysym for event in planned(Type("aÄ\r\n")) if isinstance(event, KeyEvent) and event.down]
    assert keys == [0x61, 0xC4, 0xFF0D]


@pytest.mark.parametrize(
    "act",
    [Press((A,), 3, 50.0), Press((A,), 1, math.nan), Wait(101.0), Wait(-1.0), Wait(math.inf), ActFor((), math.nan)],
)
def test_what_takes_too_long_is_refused(act: Act) -> None:
    with pytest.raises(ActionError, match="expected 0 to 100000 at once"):
        Hand(VIEW).plan(act)


def test_events_of_ones_own_come_at_their_times_and_where_they_point() -> None:
    given = ((120.0, KeyEvent(A, False)), (0.0, KeyEvent(A, True)), (50.0, PointerEvent(199, 99, 1)))
    script = Hand(VIEW).plan(ActFor(given, 200))
    assert script == Script(
        ((0.0, KeyEvent(A, True)), (50.0, PointerEvent(409, 219, 1)), (120.0, KeyEvent(A, False))), 200
    )
    frames = script.frames(1000 / 60)
    assert len(frames) == 12
    assert [number for number, frame in enumerate(frames) if frame] == [0, 3, 7]


def test_a_movement_leaves_the_pointer_and_holds_its_buttons() -> None:
    hand = Hand(VIEW)
    place = hand.pointer
    moved = (10.0, RelativePointerEvent(-300, 5, 1))
    assert hand.plan(ActFor((moved,), 20)).events == (moved,)
    assert hand.pointer == replace(place, buttonmask=1)


def test_an_event_after_the_end_is_refused_and_nothing_moves() -> None:
    hand = Hand(VIEW)
    before = hand.pointer
    with pytest.raises(ActionError, match="after the end"):
        hand.plan(ActFor(((0.0, PointerEvent(0, 0, 1)), (300.0, KeyEvent(A, True))), 200))
    assert hand.pointer == before


def test_keys_that_are_quicker_than_a_frame_take_one_each() -> None:
    frames = Hand(VIEW).plan(Type("ab")).frames(100)
    assert frames == [
        [KeyEvent(0x61, True)],
        [KeyEvent(0x61, False), KeyEvent(0x62, True)],
        [KeyEvent(0x62, False)],
    ]
