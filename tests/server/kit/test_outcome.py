from __future__ import annotations

import pytest
from pluriverse_protocol.reports import Done, Reward
from pluriverse_server.kit import Outcome


def test_a_step_is_reported_with_what_it_earned() -> None:
    outcome = Outcome(1.5)
    assert not outcome.is_last
    assert outcome.report(3, 7.25, {"lives": 2}) == Reward(3, 1.5, 7.25, {"lives": 2})


@pytest.mark.parametrize(("terminated", "truncated"), [(True, False), (False, True)])
def test_the_last_step_is_reported_with_how_it_ended(terminated: bool, truncated: bool) -> None:
    outcome = Outcome(-1.0, terminated, truncated, "why")
    assert outcome.is_last
    assert outcome.report(3, 7.25) == Done(3, -1.0, terminated, truncated, "why", at=7.25)
