from __future__ import annotations

import pytest
from realtime.grids import FORWARD, TURN_LEFT, TURN_RIGHT, Grid, path
from support.solved import Earned

pytestmark = [pytest.mark.slow, pytest.mark.display]

WALLS = {(x, y): "grey square" for x in range(5) for y in range(5) if x in (0, 4) or y in (0, 4)}


def test_shortest_path_ends_before_the_target_and_goes_around_things() -> None:
    grid = Grid((1, 1), 0, WALLS | {(2, 1): "blue ball", (3, 1): "red key"})
    assert path(grid, (3, 1)) == [TURN_RIGHT, FORWARD, TURN_LEFT, FORWARD, FORWARD, TURN_LEFT]
    assert path(grid, (2, 1)) == []


@pytest.mark.parametrize("name", ["door-key", "go-to-object"])
@pytest.mark.parametrize("seed", [0, 5])
def test_way_is_found(earned: Earned, name: str, seed: int) -> None:
    task, points = earned(name, seed)
    assert points >= task.success
