"""What ``send`` takes, and what it refuses."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import pytest
from pluriverse.adapters import envpool
from pluriverse.adapters.envpool.registration import make_gymnasium
from pluriverse.errors import ActionError, Misuse
from support.remotes import MachineRemote

pytestmark = pytest.mark.display

N = 3


@pytest.fixture(scope="module")
def lake() -> Generator[Any]:
    env = envpool.make_gymnasium("gym-core.FrozenLake-v1", remotes=f"local:{N}")
    env.reset()
    yield env
    env.close()


def one(remote: MachineRemote, **options: Any) -> Any:
    address = remote.address
    return make_gymnasium("gym-core.MiniGrid-Empty-5x5-v0", remotes=address, **options)


def int32(*values: Any) -> Any:
    return np.array(values, np.int32)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8, np.float32, np.float64])
def test_array_of_whole_numbers_of_any_type_is_for_all(lake: Any, dtype: Any) -> None:
    assert lake.step(np.array([2, 0, 1], dtype))[-1]["env_id"].tolist() == [0, 1, 2]
    assert lake.step([2, 0, 1])[-1]["env_id"].tolist() == [0, 1, 2]


def test_some_are_named_in_the_order_in_which_they_come_back(lake: Any) -> None:
    assert lake.step([2, 1], np.array([2, 0]))[-1]["env_id"].tolist() == [2, 0]


def test_dict_may_name_them_itself(lake: Any) -> None:
    named = {"action": int32(2, 1), "env_id": int32(2, 0)}
    for more in ({}, {"players.env_id": int32(2, 0)}, {"players": {"env_id": int32(2, 0)}}):
        assert lake.step({**named, **more})[-1]["env_id"].tolist() == [2, 0]
    assert lake.step({"action": int32(0, 1, 2)})[-1]["env_id"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("env_id", [[0, 0], [0, 3], [-1, 0], [0.0, 1.0], [True, False], [], [[0, 1]], "01"])
def test_wrong_environments_are_misuse_and_nothing_is_sent(lake: Any, env_id: Any) -> None:
    with pytest.raises(Misuse, match="env_id"):
        lake.send([0, 0], env_id)
    with pytest.raises(Misuse, match="recv waits for"):
        lake.recv()


def test_players_that_differ_are_misuse(lake: Any) -> None:
    with pytest.raises(Misuse, match="players"):
        lake.send({"action": int32(0), "env_id": int32(1), "players.env_id": int32(2)})


@pytest.mark.parametrize(
    "action",
    [
        [0, 0],
        [[0], [0], [0]],
        [0.5, 0, 0],
        [np.nan, 0, 0],
        [True, True, False],
        "abc",
        None,
        {"action": np.zeros(3, np.int64)},
        {"action": np.zeros((3, 1), np.int32)},
        {"action": int32(0, 0, 0), "env_id": np.arange(3)},
        {"action": int32(0, 0, 0), "other": int32(0, 0, 0)},
        {"env_id": int32(0, 1, 2)},
        {},
    ],
)
def test_wrong_shapes_types_and_names_are_wrong_actions(lake: Any, action: Any) -> None:
    with pytest.raises(ActionError):
        lake.send(action)


def test_pointer_is_a_dict_of_parts(remote: MachineRemote) -> None:
    env = one(remote, actions="pointer")
    try:
        env.reset()
        parts = {name: np.zeros((1, *part.shape), np.int32) for name, part in env.action_space["action"].items()}
        assert env.step({"action": parts})[-1]["elapsed_step"].tolist() == [1]
        with pytest.raises(ActionError, match=r"action\.pointer"):
            env.send(np.zeros(1, np.int32))
    finally:
        env.close()
