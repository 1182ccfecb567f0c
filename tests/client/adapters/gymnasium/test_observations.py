from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from pluriverse.adapters.gymnasium.observations import Observer
from pluriverse.adapters.pictures import PictureOptions, Pictures
from pluriverse.adapters.player import StepResult
from pluriverse.errors import RemoteFailed
from pluriverse_protocol.env_spaces import Spaces


class Said:
    """What an observer asks a core for."""

    def __init__(self, spaces: Spaces | None, states: list[Any]) -> None:
        self.n = len(states)
        self.spaces = spaces
        self.screens = [np.full((2, 3, 3), index, np.uint8) for index in range(self.n)]
        self.turns = [StepResult(self.screens[i], text=f"text {i}", state=state) for i, state in enumerate(states)]
        self.pictures = Pictures(PictureOptions(), (0, 0, 3, 2))

    def result(self, index: int) -> StepResult:
        return self.turns[index]

    def picture(self, index: int) -> Any:
        return self.screens[index]


def observer(spaces: Spaces | None, states: list[Any]) -> tuple[Observer, Said]:
    said = Said(spaces, states)
    return Observer(cast("Any", said)), said


def test_pixels_alone_are_an_array_of_their_own() -> None:
    eyes, said = observer(None, [None])
    one = eyes.one(0)
    assert (one == said.screens[0]).all()
    assert not np.shares_memory(one, said.screens[0])
    assert one.flags.writeable


def test_text_and_state_come_beside_the_picture() -> None:
    eyes, _ = observer(Spaces(text=True, observation=(2,)), [[1, 2.5], None])
    one = eyes.one(0)
    assert one.keys() == {"vision", "text", "observation"}
    assert (one["text"], one["observation"].dtype, one["observation"].tolist()) == ("text 0", np.float32, [1, 2.5])
    assert eyes.one(1)["observation"].tolist() == [0, 0]


def test_batch_keeps_what_was_taken_until_it_is_taken_again() -> None:
    eyes, said = observer(Spaces(text=True, observation=(1,)), [[1], [2]])
    eyes.take(0)
    eyes.take(1)
    copied, same = eyes.batch(copy=True), eyes.batch(copy=False)
    assert copied["text"] == ("text 0", "text 1")
    assert copied["observation"].tolist() == [[1], [2]]
    said.turns[1].state = [7]
    said.screens[1] = np.full((2, 3, 3), 9, np.uint8)
    eyes.take(1)
    assert copied["observation"].tolist() == [[1], [2]]
    assert same["observation"].tolist() == [[1], [7]]
    assert (same["vision"][1] == 9).all()
    assert (copied["vision"][1] == 1).all()


@pytest.mark.parametrize("state", [[1], "text", [[1, 2]]])
def test_state_of_another_shape_than_said_is_the_remotes_fault(state: Any) -> None:
    eyes, _ = observer(Spaces(observation=(2,)), [state])
    with pytest.raises(RemoteFailed, match="the remote sent"):
        eyes.one(0)
