import contextlib

import pytest
from pluriverse.errors import Misuse
from pluriverse.fleet.node_vector import NodeVector

pytestmark = [pytest.mark.slow, pytest.mark.display]

PONG = "gym-core.PongDeterministic-v3"
STEPS = 60


def test_in_lockstep_everyone_is_waited_for() -> None:
    with contextlib.closing(NodeVector("gym-core.CartPole-v1", "local:1", {"clock": "lockstep", "slots": 2})) as vector:
        _, batch = vector.begin()
        assert len(batch) == 2
        for _ in range(STEPS):
            batch = vector.step({0: 0, 1: 1})
            assert len(batch) == 2


def test_nothing_is_stepped_before_it_began() -> None:
    with pytest.raises(Misuse, match="has not begun"):
        NodeVector(PONG, "local:1", {}).step({0: 0})
