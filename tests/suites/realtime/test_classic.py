from __future__ import annotations

import pytest
from support.solved import Earned

pytestmark = [pytest.mark.slow, pytest.mark.display]


@pytest.mark.parametrize(("name", "seconds"), [("cart-pole", 2), ("mountain-car", None), ("acrobot", None)])
def test_problem_is_solved(earned: Earned, name: str, seconds: float | None) -> None:
    task, points = earned(name, seconds=seconds)
    # What falls over earns a step each while it stands.
    assert points >= (100 if seconds else task.success)
