from typing import Any

import numpy as np
import pytest
from pluriverse.adapters.info import Observations
from pluriverse.adapters.pictures import PictureOptions, Pictures
from pluriverse.errors import RemoteFailed
from pluriverse.rewarder.result import Result
from pluriverse_protocol.env_spaces import Spaces

SCREEN = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
PICTURES = Pictures(PictureOptions(), (0, 0, 6, 4))


def made(spaces: Spaces | None, **turn: Any) -> Any:
    return Observations(spaces, PICTURES).make(Result(SCREEN, **turn))


@pytest.mark.parametrize("spaces", [None, Spaces(), Spaces(pointer=True)])
def test_picture_alone_is_the_observation(spaces: Spaces | None) -> None:
    np.testing.assert_array_equal(made(spaces), SCREEN)


def test_text_and_state_stand_beside_the_picture() -> None:
    observation = made(Spaces(text=True, observation=(2,)), texts=("go",), observation=[1, 2.5])
    assert list(observation) == ["vision", "text", "observation"]
    assert observation["text"] == "go"
    np.testing.assert_array_equal(observation["observation"], np.array([1, 2.5], np.float32))


def test_state_that_has_not_come_is_zeros() -> None:
    np.testing.assert_array_equal(made(Spaces(observation=(2, 3)))["observation"], np.zeros((2, 3)))


@pytest.mark.parametrize("state", [[1], [[1, 2]], "ab", [1, "b"], {"x": 1}, [[1], [1, 2]]])
def test_state_of_another_shape_than_was_said_is_the_remotes_fault(state: Any) -> None:
    with pytest.raises(RemoteFailed, match=r"shape"):
        made(Spaces(observation=(2,)), observation=state)
