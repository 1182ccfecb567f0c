"""What ``send`` takes, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pluriverse.adapters.actions import ActionMap
from pluriverse.adapters.envpool.config import Config
from pluriverse.adapters.envpool.inputs import Inputs
from pluriverse.adapters.envpool.spec import PoolSpec
from pluriverse.errors import ActionError, Misuse
from pluriverse_protocol.env_spaces import Choice, Spaces

SPACES = Spaces(discrete=(Choice("NOOP", ()), Choice("A", (97,)), Choice("B", (98,))), keys=(97, 98), pointer=True)


def inputs(kind: Any = "discrete", n: int = 3) -> Inputs:
    config = Config(num_envs=n, batch_size=n)
    return Inputs(PoolSpec(config, ActionMap(SPACES, (0, 0, 160, 210), kind), (1, 84, 84)))


def int32(*values: Any) -> Any:
    return np.array(values, np.int32)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8, np.float32, np.float64])
def test_array_of_whole_numbers_of_any_type_is_for_all(dtype: Any) -> None:
    assert inputs().read(np.array([2, 0, 1], dtype), None) == {0: 2, 1: 0, 2: 1}
    assert inputs().read([2, 0, 1], None) == {0: 2, 1: 0, 2: 1}


def test_some_are_named_in_the_order_in_which_they_come_back() -> None:
    assert list(inputs().read([2, 1], np.array([2, 0])).items()) == [(2, 2), (0, 1)]


def test_dict_may_name_them_itself() -> None:
    named = {"action": int32(2, 1), "env_id": int32(2, 0)}
    assert inputs().read(named, None) == {2: 2, 0: 1}
    assert inputs().read({**named, "players.env_id": int32(2, 0)}, None) == {2: 2, 0: 1}
    assert inputs().read({**named, "players": {"env_id": int32(2, 0)}}, None) == {2: 2, 0: 1}
    assert inputs().read({"action": int32(0, 1, 2)}, None) == {0: 0, 1: 1, 2: 2}


def test_keys_are_a_row_each() -> None:
    rows = inputs("keys").read([[0, 1], [1, 1], [0, 0]], None)
    assert [row.tolist() for row in rows.values()] == [[0, 1], [1, 1], [0, 0]]


def test_pointer_is_a_dict_of_parts() -> None:
    parts = {"pointer": int32([1, 2]), "buttons": int32([1, 0, 0]), "keys": int32([0, 1])}
    action = inputs("pointer", 1).read({"action": parts}, None)[0]
    assert {name: value.tolist() for name, value in action.items()} == {
        "pointer": [1, 2],
        "buttons": [1, 0, 0],
        "keys": [0, 1],
    }


@pytest.mark.parametrize("env_id", [[0, 0], [0, 3], [-1, 0], [0.0, 1.0], [True, False], [], [[0, 1]], "01"])
def test_wrong_environments_are_misuse(env_id: Any) -> None:
    with pytest.raises(Misuse):
        inputs().read([0, 0], env_id)


def test_players_that_differ_are_misuse() -> None:
    with pytest.raises(Misuse, match="players"):
        inputs().read({"action": int32(0), "env_id": int32(1), "players.env_id": int32(2)}, None)


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
        {"action": int32(0, 0, 0), "other": int32(0, 0, 0)},
        {"env_id": int32(0, 1, 2)},
        {},
    ],
)
def test_wrong_shapes_types_and_names_are_wrong_actions(action: Any) -> None:
    with pytest.raises(ActionError):
        inputs().read(action, None)


def test_one_array_is_no_pointer() -> None:
    with pytest.raises(ActionError, match=r"'action.pointer'"):
        inputs("pointer").read(np.zeros(3, np.int32), None)
