from __future__ import annotations

import pytest
from support.solved import Earned

pytestmark = [pytest.mark.slow, pytest.mark.display]


@pytest.mark.parametrize(("name", "seconds", "enough"), [("doom-basic", None, 0), ("health-gathering", None, 560)])
def test_scenario_is_played(earned: Earned, name: str, seconds: float | None, enough: float) -> None:
    _, points = earned(name, seconds=seconds)
    assert points >= enough
