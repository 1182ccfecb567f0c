from collections.abc import Generator
from typing import Any

import numpy as np
import pytest
from pluriverse.adapters.actions import ActionMap
from pluriverse.adapters.alf import load, tensors
from pluriverse.adapters.alf.suite_pluriverse import PluriverseAlfEnvironment, action_spec
from pluriverse.adapters.alf.tensor_specs import BoundedTensorSpec, decode_text
from pluriverse.errors import ConfigurationError
from pluriverse.testing.alf import check
from pluriverse_protocol.env_spaces import Spaces
from support.leftovers import Leftovers

pytestmark = pytest.mark.display

PONG = "gym-core.PongDeterministic-v3"
LAKE = "gym-core.FrozenLake-v1"


@pytest.fixture(autouse=True)
def library() -> None:
    """What is installed; that both are tensors is seen elsewhere."""


@pytest.fixture
def pong(address: str) -> Generator[PluriverseAlfEnvironment]:
    with load(PONG, address, batch_size=2, clock="lockstep", size=(84, 96), max_episode_steps=12) as env:
        yield env


def act(env: Any, *actions: int) -> Any:
    return env.step(tensors.tensor(np.array(actions)))


def test_steps_show_what_each_remote_draws(pong: PluriverseAlfEnvironment) -> None:
    pong.reset()
    step = act(pong, 2, 3)
    assert step.env_info["elapsed"].tolist() == [1, 1]
    # Pong's colours, channels first: what each remote shows, not the other's.
    pictures = tensors.as_array(step.observation)
    for index in range(2):
        expected = pong.core.picture(index).transpose(2, 0, 1)
        assert (pictures[index] == expected).all()
    assert pong.render().shape[2] == 3


def test_remotes_are_made_as_one_batch(address: str) -> None:
    check(LAKE, address, batch_size=1, max_episode_steps=3, seed=3)


def test_limit_ends_with_discount_1_and_the_next_step_begins_anew(pong: PluriverseAlfEnvironment) -> None:
    pong.reset()
    steps = [act(pong, 0, 0) for _ in range(13)]
    assert steps[11].is_last().tolist() == [True, True]
    assert steps[11].discount.tolist() == [1, 1]
    assert steps[11].env_info["truncated"].tolist() == [True, True]
    assert steps[11].env_info["lost"].tolist() == [False, False]
    assert steps[12].is_first().tolist() == [True, True]
    assert steps[12].prev_action.tolist() == [0, 0]


def test_seeds_come_one_for_each(pong: PluriverseAlfEnvironment) -> None:
    pong.seed(5)
    assert pong.reset().is_first().all()
    with pytest.raises(ConfigurationError, match="1 seeds for 2"):
        pong.seed([5])


def test_outcome_ends_with_discount_0_and_no_reward_is_lost(address: str) -> None:
    with load(
        "gym-core.CliffWalking-v1", address, clock="lockstep", seed=1, image_channel_first=False, size=(32, 32)
    ) as env:
        assert env.observation_spec().shape == (32, 32, 3)
        up, right, down = range(3)
        env.reset()
        # Along the cliff, each step costs 1; what a move earned may come with the frame after its own.
        steps = [act(env, move) for move in [up, *[right] * 11, down]]
        while not steps[-1].is_last().all():
            steps.append(act(env, down))
        assert sum(step.reward.item() for step in steps) == -13
        assert [step.discount.item() for step in steps] == [1] * (len(steps) - 1) + [0]
        assert steps[-1].env_info["terminated"].tolist() == [True]
        assert steps[-1].env_info["elapsed"].tolist() == [len(steps)]
        assert act(env, up).is_first().tolist() == [True]


def test_texts_are_in_the_observation_and_one_seed_makes_the_whole_run(address: str) -> None:
    with load("gym-core.MiniGrid-DoorKey-5x5-v0", address, clock="lockstep", size=(32, 32), seed=3) as env:
        run = [_picture(env.reset()) for _ in range(4)]
        env.seed(3)
        assert run == [_picture(env.reset()) for _ in range(4)]
        assert len({*run}) == 4
        mission = env.reset().observation["text"][0]
        assert "door" in decode_text(mission)
        assert env.observation_spec()["text"].contains(mission)


def _picture(step: Any) -> Any:
    return tensors.as_array(step.observation["vision"])[0].tobytes()


def test_batch_of_another_size_than_the_remotes_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="batch_size is 3, and there are 2 remotes"):
        load(PONG, "local:2", batch_size=3)


def test_lists_of_events_are_refused_and_nothing_is_left() -> None:
    left = Leftovers()
    with pytest.raises(ConfigurationError, match="lists of events are no arrays"):
        load(LAKE, "local:1", actions="events")
    left.assert_none()


def test_actions_of_every_kind_have_specs() -> None:
    spaces = Spaces(keys=(0x61, 0x62), pointer=True)
    keys = BoundedTensorSpec((2,), "int64", 0, 1)
    assert action_spec(ActionMap(spaces, (0, 0, 100, 50), "keys")) == keys
    assert action_spec(ActionMap(spaces, (0, 0, 100, 50), "pointer")) == {
        "pointer": BoundedTensorSpec((2,), "int64", 0, [99, 49]),
        "buttons": BoundedTensorSpec((3,), "int64", 0, 1),
        "keys": keys,
    }
    assert action_spec(ActionMap(Spaces(pointer=True), (0, 0, 9, 9), "pointer")).keys() == {"pointer", "buttons"}
