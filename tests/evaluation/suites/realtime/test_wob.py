from __future__ import annotations

import pytest
from support.solved import Earned

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.mark.parametrize("name", ["drag-box", "click-shades"])
def test_task_is_done_by_its_colours(earned_in_page: Earned, name: str) -> None:
    task, points = earned_in_page(name, seed=2)
    assert points >= task.success


def test_circle_is_followed(earned_in_page: Earned) -> None:
    task, points = earned_in_page("chase-circle", seed=1)
    assert points >= task.success
