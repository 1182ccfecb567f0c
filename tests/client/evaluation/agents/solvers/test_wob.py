from __future__ import annotations

import pytest
from support.solved import earned


@pytest.mark.parametrize("name", ["drag-box", "click-shades"])
def test_task_is_done_by_its_colours(name: str) -> None:
    task, points = earned(name, seed=2)
    assert points >= task.success


def test_circle_is_followed() -> None:
    task, points = earned("chase-circle", seed=1)
    assert points >= task.success
