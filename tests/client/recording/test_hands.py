"""What people do becomes the action of an agent that would have done the same."""

from __future__ import annotations

import numpy as np
import pytest
from pluriverse.adapters.actions import ActionMap
from pluriverse.recording.hands import Hands, reading
from pluriverse_protocol.env_spaces import Choice, Spaces
from pluriverse_protocol.events import KeyEvent, PointerEvent

BOX = (10, 20, 100, 50)
UP, FIRE = 0xFF52, 0x20
CHOICES = (Choice("wait", ()), Choice("up", (UP,)), Choice("fire", (FIRE,)), Choice("up and fire", (UP, FIRE)))


def press(hands: Hands, *keys: int) -> None:
    for down in (True, False):
        for key in keys:
            hands.take(KeyEvent(key, down))


def test_choice_with_the_most_keys_that_were_down_is_taken() -> None:
    hands, read = Hands(), reading(ActionMap(Spaces(discrete=CHOICES), BOX))
    assert read.action(hands) == 0
    hands.take(KeyEvent(UP, True))
    assert read.action(hands) == 1
    hands.take(KeyEvent(FIRE, True))
    assert read.action(hands) == 3
    hands.step()
    hands.take(KeyEvent(UP, False))
    hands.step()
    assert read.action(hands) == 2


def test_key_pressed_and_released_within_a_step_is_an_action_of_that_step_alone() -> None:
    hands, read = Hands(), reading(ActionMap(Spaces(discrete=CHOICES), BOX))
    press(hands, FIRE)
    assert read.action(hands) == 2
    hands.step()
    assert read.action(hands) == 0


def test_taps_come_one_a_step_in_their_order_and_none_is_lost() -> None:
    hands, read = Hands(), reading(ActionMap(Spaces(discrete=CHOICES[:3], tap=True), BOX))
    press(hands, UP)
    press(hands, FIRE)
    press(hands, UP)
    actions: list[int] = []
    for _ in range(5):
        actions.append(read.action(hands))
        hands.step()
    assert actions == [1, 2, 1, 0, 0]


def test_keys_are_a_vector_in_the_order_of_the_environments_keys() -> None:
    hands, read = Hands(), reading(ActionMap(Spaces(keys=(UP, FIRE)), BOX, "keys"))
    hands.take(KeyEvent(FIRE, True))
    hands.take(KeyEvent(0x61, True))
    assert read.action(hands).tolist() == [0, 1]


def test_pointer_is_within_the_picture_and_a_click_lasts_a_step() -> None:
    hands, read = Hands(), reading(ActionMap(Spaces(pointer=True), BOX, "pointer"))
    hands.take(PointerEvent(15, 500, 1))
    hands.take(PointerEvent(15, 500, 0))
    action = read.action(hands)
    assert action["pointer"].tolist() == [5, 49]
    assert action["buttons"].tolist() == [1, 0, 0]
    hands.step()
    assert not np.any(read.action(hands)["buttons"])


def test_lists_of_events_are_refused() -> None:
    with pytest.raises(ValueError, match="expected discrete, keys or pointer"):
        reading(ActionMap(Spaces(keys=(UP,)), BOX, "events"))
