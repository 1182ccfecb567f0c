from typing import Any

import numpy as np
import pytest
from pluriverse.adapters.actions import IDLE, ActionMap, Kind
from pluriverse.errors import ActionError, ConfigurationError
from pluriverse.spaces import ORDINARY_KEYS
from pluriverse_protocol.env_spaces import Choice, Spaces
from pluriverse_protocol.events import JoystickEvent, KeyEvent, PointerEvent, RelativePointerEvent, SubmitEvent

LEFT, RIGHT, FIRE = 0xFF51, 0xFF53, ord("z")
BOX = (10, 20, 100, 50)
GAME = Spaces(discrete=(Choice("NOOP", ()), Choice("LEFT", (LEFT,)), Choice("LEFTFIRE", (LEFT, FIRE))))
TURNS = Spaces(discrete=(Choice("left", (LEFT,)), Choice("drop", (FIRE,))), tap=True)
PADS = Spaces(keys=(FIRE,), pointer=True, pads=1)
PAGE = Spaces(keys=(ord("a"), ord("b")), pointer=True, text=True)
GRABBED = Spaces(pointer=True, relative=True, buttons=9)


def mapped(spaces: Spaces | None, kind: Any = "auto") -> ActionMap:
    return ActionMap(spaces, BOX, kind)


@pytest.mark.parametrize(
    ("spaces", "kind"),
    [(GAME, "discrete"), (TURNS, "discrete"), (PADS, "pads"), (PAGE, "pointer"), (Spaces(keys=(FIRE,)), "keys"),
     (Spaces(), "events"), (None, "pointer")],
)  # fmt: skip
def test_kind_follows_from_what_the_remote_says(spaces: Spaces | None, kind: Kind) -> None:
    assert mapped(spaces).kind == kind


@pytest.mark.parametrize(
    ("spaces", "kind"), [(PAGE, "discrete"), (Spaces(pointer=True), "keys"), (PAGE, "pads"), (GAME, "mouse")]
)
def test_kind_that_is_not_to_be_had_says_which_are(spaces: Spaces, kind: str) -> None:
    with pytest.raises(ConfigurationError, match="expected"):
        mapped(spaces, kind)


def test_first_choice_sets_every_key_and_later_ones_only_what_changes() -> None:
    hand = mapped(GAME).encoder()
    assert set(hand.events(1)) == {KeyEvent(LEFT, True), KeyEvent(FIRE, False)}
    assert list(hand.events(2)) == [KeyEvent(FIRE, True)]
    assert list(hand.events(2)) == []
    assert set(hand.events(np.int64(0))) == {KeyEvent(LEFT, False), KeyEvent(FIRE, False)}


def test_idle_holds_no_keys_also_where_no_choice_does() -> None:
    hand = mapped(Spaces(discrete=GAME.discrete[1:])).encoder()
    hand.events(1)
    assert set(hand.events(IDLE)) == {KeyEvent(LEFT, False), KeyEvent(FIRE, False)}


def test_an_encoder_that_forgot_says_everything_again() -> None:
    hand = mapped(GAME).encoder()
    hand.events(2)
    hand.forget()
    assert len(hand.events(0)) == 2


def test_tap_presses_and_releases_each_time() -> None:
    hand = mapped(TURNS).encoder()
    for _ in range(2):
        assert list(hand.events(1)) == [KeyEvent(FIRE, True), KeyEvent(FIRE, False)]


def test_keys_are_a_bit_each() -> None:
    actions = mapped(GAME, "keys")
    hand = actions.encoder()
    assert set(hand.events(np.array([1, 0], np.int8))) == {KeyEvent(LEFT, True), KeyEvent(FIRE, False)}
    assert list(hand.events([0, 1])) == [KeyEvent(LEFT, False), KeyEvent(FIRE, True)]


def test_pointer_is_in_pixels_of_the_picture_and_stays_where_it_was() -> None:
    hand = mapped(PAGE).encoder()
    assert list(hand.events({"pointer": np.array([3, 4]), "buttons": [1, 0, 0]})) == [PointerEvent(13, 24, 1)]
    assert list(hand.events({"pointer": [3, 4], "buttons": [1, 0, 0]})) == []
    assert list(hand.events({"buttons": [0, 0, 1]})) == [PointerEvent(13, 24, 4)]
    assert hand.events({"pointer": [0, 0], "keys": [1, 0]})[0] == PointerEvent(10, 20, 4)
    hand.forget()
    assert list(hand.events({"buttons": [0, 0, 0]})) == [PointerEvent(10, 20, 0)]


@pytest.mark.parametrize(
    ("spaces", "idle", "action"),
    [
        (Spaces(discrete=(Choice("wait", ()), Choice("left", (LEFT,))), submit=True), 0, 2),
        (Spaces(keys=(LEFT,), submit=True), {"keys": [0]}, {"keys": [0], "submit": [1]}),
        (Spaces(pointer=True, submit=True), {"buttons": [0, 0, 0]}, {"submit": [1]}),
        (Spaces(pads=1, submit=True), {}, {"submit": [1]}),
        (Spaces(submit=True), {"keys": [0] * len(ORDINARY_KEYS)}, {"submit": [1]}),
    ],
)
def test_one_more_choice_or_part_says_that_the_agent_is_done(spaces: Spaces, idle: Any, action: Any) -> None:
    actions = ActionMap(spaces, BOX)
    encoder = actions.encoder()
    assert SubmitEvent() not in encoder.events(idle)
    assert list(encoder.events(action))[-1] == SubmitEvent()
    assert actions.n == 3 if spaces.discrete else actions.arrays()["submit"].shape == (1,)


def test_a_relative_pointer_moves_each_time_and_has_the_buttons_that_are_asked_for() -> None:
    hand = mapped(GRABBED).encoder()
    fire = [1] + [0] * 8
    assert list(hand.events({"pointer": np.array([-99, 49]), "buttons": fire})) == [RelativePointerEvent(-99, 49, 1)]
    assert list(hand.events({"pointer": [3, 0]})) == [RelativePointerEvent(3, 0, 1)]
    assert list(hand.events({"pointer": [0, 0], "buttons": fire})) == []
    assert list(hand.events({"buttons": [0] * 8 + [1]})) == [RelativePointerEvent(0, 0, 256)]
    hand.forget()
    assert list(hand.events({})) == []
    assert list(hand.events({"pointer": [0, 0]})) == [RelativePointerEvent(0, 0, 0)]
    with pytest.raises(ActionError, match="further than the picture"):
        hand.events({"pointer": [100, 0]})


def test_of_a_pad_only_what_changes_is_sent() -> None:
    hand = mapped(PADS).encoder()
    at_rest = {"axes": np.zeros(6, np.float32), "buttons": np.zeros(16, np.int8), "keys": [0]}
    assert len(hand.events(at_rest)) == 6 + 16 + 1
    assert list(hand.events({**at_rest, "axes": [0, -0.5, 0, 0, 0, 1]})) == [
        JoystickEvent("JoystickAxisYEvent", -0.5),
        JoystickEvent("JoystickAxisRzEvent", 1.0),
    ]
    assert list(hand.events({"buttons": [0, 1] + [0] * 14})) == [JoystickEvent("JoystickButton1Event", 1.0)]
    hand.forget()
    assert len(hand.events(at_rest)) == 6 + 16 + 1


@pytest.mark.parametrize(
    "action",
    [0, {"pointer": [1, 2]}, {"axes": [0] * 5}, {"axes": [2] + [0] * 5}, {"axes": [0, 0, -0.1, 0, 0, 0]},
     {"axes": [np.nan] * 6}, {"axes": ["0"] * 6}, {"buttons": [0.5] * 16}],
)  # fmt: skip
def test_what_is_no_action_of_a_pad_is_refused(action: Any) -> None:
    with pytest.raises(ActionError, match="expected"):
        mapped(PADS).encoder().events(action)


def test_events_pass_through() -> None:
    hand = mapped(GAME, "events").encoder()
    assert list(hand.events([("KeyEvent", "ArrowLeft", True)])) == [KeyEvent(LEFT, True)]


def test_keys_that_the_environment_does_not_use_are_named_until_the_next_action() -> None:
    hand = mapped(GAME, "events").encoder()
    hand.events([KeyEvent(key, down) for key in (LEFT, ord("m"), 0xFF0D, ord("m")) for down in (True, False)])
    assert list(hand.ignored) == ["m", "Enter"]
    hand.events([KeyEvent(ord("m"), False)])
    assert not hand.ignored


@pytest.mark.parametrize("spaces", [None, Spaces(), Spaces(text=True)])
def test_where_no_input_is_named_no_key_is_ignored(spaces: Spaces | None) -> None:
    hand = mapped(spaces, "events").encoder()
    hand.events([KeyEvent(ord("m"), True)])
    assert not hand.ignored


@pytest.mark.parametrize("action", [3, -1, 1.0, True, "1", None, np.array([1, 2]), {}])
def test_what_is_no_choice_is_refused(action: Any) -> None:
    with pytest.raises(ActionError, match="expected an integer of 0 to 2"):
        mapped(GAME).encoder().events(action)


@pytest.mark.parametrize(
    "action",
    [1, [0, 1], {"mouse": [1, 2]}, {"pointer": [100, 0]}, {"pointer": [-1, 0]}, {"pointer": [1]}, {"keys": [1]},
     {"pointer": [0.5, 0.5]}, {"buttons": [1, 0]}],
)  # fmt: skip
def test_what_is_no_pointer_action_is_refused(action: Any) -> None:
    with pytest.raises(ActionError, match=r"expected|outside"):
        mapped(PAGE).encoder().events(action)
