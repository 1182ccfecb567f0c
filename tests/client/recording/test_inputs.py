"""What people do becomes the action of an agent that would have done the same."""

import numpy as np
import pytest
from pluriverse.adapters.actions import ActionMap
from pluriverse.recording.inputs import HeldInputs, action_reader
from pluriverse_protocol.env_spaces import Choice, Spaces
from pluriverse_protocol.events import JoystickEvent, KeyEvent, PointerEvent, RelativePointerEvent

BOX = (10, 20, 100, 50)
UP, FIRE = 0xFF52, 0x20
CHOICES = (Choice("wait", ()), Choice("up", (UP,)), Choice("fire", (FIRE,)), Choice("up and fire", (UP, FIRE)))


def press(inputs: HeldInputs, *keys: int) -> None:
    for down in (True, False):
        for key in keys:
            inputs.take(KeyEvent(key, down))


def test_choice_with_the_most_keys_that_were_down_is_taken() -> None:
    inputs, read = HeldInputs(), action_reader(ActionMap(Spaces(discrete=CHOICES), BOX))
    assert read(inputs) == 0
    inputs.take(KeyEvent(UP, True))
    assert read(inputs) == 1
    inputs.take(KeyEvent(FIRE, True))
    assert read(inputs) == 3
    inputs.step()
    inputs.take(KeyEvent(UP, False))
    inputs.step()
    assert read(inputs) == 2


def test_key_pressed_and_released_within_a_step_is_an_action_of_that_step_alone() -> None:
    inputs, read = HeldInputs(), action_reader(ActionMap(Spaces(discrete=CHOICES), BOX))
    press(inputs, FIRE)
    assert read(inputs) == 2
    inputs.step()
    assert read(inputs) == 0


def test_taps_come_one_a_step_in_their_order_and_none_is_lost() -> None:
    inputs, read = HeldInputs(), action_reader(ActionMap(Spaces(discrete=CHOICES[:3], tap=True), BOX))
    press(inputs, UP)
    press(inputs, FIRE)
    press(inputs, UP)
    actions: list[int] = []
    for _ in range(5):
        actions.append(read(inputs))
        inputs.step()
    assert actions == [1, 2, 1, 0, 0]


def test_keys_are_a_vector_in_the_order_of_the_environments_keys() -> None:
    inputs, read = HeldInputs(), action_reader(ActionMap(Spaces(keys=(UP, FIRE)), BOX, "keys"))
    inputs.take(KeyEvent(FIRE, True))
    inputs.take(KeyEvent(0x61, True))
    assert read(inputs).tolist() == [0, 1]


def test_pointer_is_within_the_picture_and_a_click_lasts_a_step() -> None:
    inputs, read = HeldInputs(), action_reader(ActionMap(Spaces(pointer=True), BOX, "pointer"))
    inputs.take(PointerEvent(15, 500, 1))
    inputs.take(PointerEvent(15, 500, 0))
    action = read(inputs)
    assert action["pointer"].tolist() == [5, 49]
    assert action["buttons"].tolist() == [1, 0, 0]
    inputs.step()
    assert not np.any(read(inputs)["buttons"])


def test_movements_of_a_relative_pointer_add_up_within_a_step() -> None:
    spaces = Spaces(pointer=True, relative=True)
    inputs, read = HeldInputs(), action_reader(ActionMap(spaces, BOX, "pointer"))
    for mask in (1, 0):
        inputs.take(RelativePointerEvent(3, -40, mask))
    action = read(inputs)
    assert action["pointer"].tolist() == [6, -49]
    assert action["buttons"].tolist() == [1, 0, 0]
    inputs.step()
    assert read(inputs)["pointer"].tolist() == [0, 0]


def test_lists_of_events_are_refused() -> None:
    with pytest.raises(ValueError, match="expected discrete, pads, keys or pointer"):
        action_reader(ActionMap(Spaces(keys=(UP,)), BOX, "events"))


def test_pads_are_as_they_were_last_and_a_button_as_it_was_at_any_time() -> None:
    inputs, read = HeldInputs(), action_reader(ActionMap(Spaces(pads=1), BOX))
    for name, value in (("AxisX", 1.0), ("AxisX", -0.5), ("AxisZ", -1.0), ("Button1", 1.0), ("Button1", 0.0)):
        inputs.take(JoystickEvent(f"Joystick{name}Event", value))
    action = read(inputs)
    assert action["axes"].tolist() == [-0.5, 0, 0, 0, 0, 0]
    assert np.flatnonzero(action["buttons"]).tolist() == [1]
    inputs.step()
    assert not read(inputs)["buttons"].any()
