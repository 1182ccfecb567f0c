"""Scripts for desktop games."""

from __future__ import annotations

from typing import Any, Final

from pluriverse.evaluation.agents.agent import Seen, hold

from .finding import Motion, coloured, middle

WAIT, LEFT, RIGHT, JUMP, JUMP_LEFT, JUMP_RIGHT = range(6)


class SlimeVolley:
    """Stands a little behind where the ball comes down, and jumps when it is near."""

    NET: Final = 400
    FLOOR: Final = 530
    HOME: Final = 200

    # Pixels by the square of a millisecond, by which the ball falls.
    GRAVITY: Final = 0.0005
    BEHIND: Final = 14

    def __init__(self) -> None:
        self._ball = Motion()

    def __call__(self, seen: Seen) -> Any:
        """Move, or jump."""
        sky = seen.picture[:540]
        ball = middle(coloured(sky, (1, 1, 1), 1))
        own = middle(coloured(seen.picture[500:580, : self.NET], (72, 72, 72), 8))
        self._ball.note(seen.ms, ball)
        if own is None or ball is None:
            return hold(WAIT)
        across, down = self._ball.speed
        target = float(self.HOME)
        if ball[0] < self.NET + 40:
            left = max(0.0, self.FLOOR - ball[1])
            # When it falls through what is left.
            wait = (-down + (down * down + 2 * self.GRAVITY * left) ** 0.5) / self.GRAVITY
            lands = ball[0] + across * wait
            if lands < self.NET:
                target = abs(lands) - self.BEHIND
        off = target - own[0]
        near = abs(ball[0] - own[0]) < 50 and 60 < own[1] - ball[1] < 130 and down > 0
        if near:
            return hold(JUMP_RIGHT if ball[0] >= own[0] else JUMP)
        if abs(off) < 10:
            return hold(WAIT)
        return hold(LEFT if off < 0 else RIGHT)
