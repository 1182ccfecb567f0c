import json
import pickle
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector.utils import batch_space, iterate
from pluriverse.adapters.actions import KINDS, ActionMap, Kind
from pluriverse.adapters.gymnasium import AnyText, Events
from pluriverse.adapters.gymnasium.gym_spaces import action_space
from pluriverse.env.actions import parse_action
from pluriverse.spaces import PEEK_REWARD
from pluriverse_protocol.env_spaces import Choice, Spaces
from pluriverse_protocol.events import KeyEvent, PointerEvent
from pluriverse_protocol.limits import MAX_REPORT_BYTES

SPACES = Spaces(discrete=(Choice("noop", ()), Choice("up", (0xFF52,))), keys=(0xFF52, 0xFF54), pointer=True, pads=2)
BOX = (10, 20, 30, 40)


def test_text_is_any_string_and_samples_are_short() -> None:
    space = AnyText(seed=1)
    assert "ä, ☃ and\nmore" in space
    assert "" in space
    assert 3 not in space
    assert "x" * (MAX_REPORT_BYTES + 1) not in space
    samples = [space.sample() for _ in range(100)]
    assert all(sample in space and len(sample) <= 64 for sample in samples)
    space.seed(1)
    assert [space.sample() for _ in range(100)] == samples


def test_events_are_sampled_seeded_and_contained() -> None:
    space = Events((0x61,), BOX, seed=3)
    samples = [space.sample() for _ in range(200)]
    assert all(sample in space for sample in samples)
    flat = [event for sample in samples for event in sample]
    assert {event.down for event in flat if isinstance(event, KeyEvent)} == {True, False}
    assert {event.keysym for event in flat if isinstance(event, KeyEvent)} == {0x61}
    pointers = [event for event in flat if isinstance(event, PointerEvent)]
    assert all(10 <= event.x < 40 and 20 <= event.y < 60 and event.buttonmask < 2 for event in pointers)
    space.seed(3)
    assert [space.sample() for _ in range(200)] == samples
    assert [("KeyEvent", "ArrowUp", True), ("PointerEvent", 1, 2, 0)] in space
    for wrong in (3, [3], "KeyEvent", [("KeyEvent", "NoSuchKey", True)], [PEEK_REWARD]):
        assert wrong not in space
    with pytest.raises(ValueError, match="mask"):
        space.sample(mask=1)


def test_events_pickle_compare_and_go_through_json() -> None:
    space = Events((0x61, 0x62), BOX, seed=3)
    assert pickle.loads(pickle.dumps(space)) == space  # noqa: S301 - our own
    assert space != Events((0x61,), BOX)
    assert not space.is_np_flattenable
    samples = [space.sample() for _ in range(20)]
    assert space.from_jsonable(json.loads(json.dumps(space.to_jsonable(samples)))) == samples


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("discrete", spaces.Discrete(2)),
        (
            "pads",
            spaces.Dict(
                axes=spaces.Box(np.array([-1, -1, 0, -1, -1, 0] * 2, np.float32), np.ones(12, np.float32)),
                buttons=spaces.MultiBinary(32),
                keys=spaces.MultiBinary(2),
            ),
        ),
        ("keys", spaces.MultiBinary(2)),
        (
            "pointer",
            spaces.Dict(
                pointer=spaces.MultiDiscrete([30, 40]), buttons=spaces.MultiBinary(3), keys=spaces.MultiBinary(2)
            ),
        ),
        ("events", Events((0xFF52, 0xFF54), BOX)),
    ],
)
def test_each_kind_of_actions_has_its_space(kind: Kind, expected: Any) -> None:
    assert action_space(ActionMap(SPACES, BOX, kind)) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_samples_are_actions_alone_and_in_batches(kind: Kind) -> None:
    actions = ActionMap(SPACES, BOX, kind)
    space = action_space(actions)
    hand = actions.encoder()
    for _ in range(20):
        assert parse_action(hand.events(space.sample())) is not None
    batched = batch_space(space, 3)
    for action in iterate(batched, batched.sample()):
        hand.events(action)


def test_a_relative_pointer_moves_by_less_than_the_picture_either_way() -> None:
    actions = ActionMap(Spaces(pointer=True, relative=True, buttons=9), BOX)
    pointer = spaces.MultiDiscrete([59, 79], start=[-29, -39])
    assert action_space(actions) == spaces.Dict(pointer=pointer, buttons=spaces.MultiBinary(9))
