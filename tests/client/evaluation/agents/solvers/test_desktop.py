from __future__ import annotations

from pluriverse.evaluation.agents.solvers.desktop import LEFT, RIGHT, WAIT, SlimeVolley
from support.solved import blank, fill, seen


def test_slime_goes_below_the_ball() -> None:
    for x, choice in ((100, LEFT), (330, RIGHT)):
        picture = blank(800, 600, (128, 128, 255))
        fill(picture, (180, 530, 240, 570), (72, 72, 72))
        fill(picture, (x, 300, x + 8, 308), (1, 1, 1))
        assert SlimeVolley()(seen(picture)).action == choice
    assert SlimeVolley()(seen(blank(800, 600))).action == WAIT
