from __future__ import annotations

import pytest
from pluriverse_eval.agents.agent import Hold
from realtime.hex_a_hop import JUMP_MS, JUMPS, KEYS, PATIENCE_MS, HexAHop
from support.solved import Earned, blank, fill, seen

pytestmark = [pytest.mark.slow, pytest.mark.display]


def test_each_jump_waits_for_the_last_and_is_made_again_if_it_was_lost() -> None:
    script = HexAHop()
    picture = blank(800, 600, (40, 50, 120))

    def jump(ms: float) -> str | None:
        done = script(seen(picture, ms))
        return KEYS[done.action] if isinstance(done, Hold) else None

    assert jump(0) == JUMPS[0]
    assert jump(JUMP_MS) is None
    assert jump(JUMP_MS + PATIENCE_MS) == JUMPS[0]
    for number in range(1, len(JUMPS)):
        fill(picture, (246 + number, 514, 247 + number, 534), (255, 255, 255))
        assert jump(2000 * number) == JUMPS[number]
    fill(picture, (246, 514, 296, 534), (255, 255, 255))
    assert jump(60_000) is None
    # The picture changes once the level is solved.
    fill(picture, (246, 514, 296, 534), (0, 0, 0))
    assert jump(62_000) is None


def test_level_is_solved(earned: Earned) -> None:
    task, points = earned("hex-a-hop")
    assert points == task.reference
