"""Scripts for Atari games, which are seen in 160 by 210 pixels."""

from __future__ import annotations

from typing import Any, Final

from pluriverse_eval.agents import Seen, hold

from .finding import Motion, boxes, centre, coloured, middle, reflected

# The choices of games that are played to both sides.
NOOP, FIRE, RIGHT, LEFT = range(4)


class Pong:
    """Goes to where the ball will be, and meets it with an end of the paddle, which makes it steep and fast."""

    COLUMN: Final = 140
    TOP, BOTTOM = 34, 194

    def __init__(self) -> None:
        self._motion = Motion()

    def __call__(self, seen: Seen) -> Any:
        """Move the paddle."""
        field = seen.picture[self.TOP : self.BOTTOM]
        ball = middle(coloured(field, (236, 236, 236)))
        paddle = middle(coloured(field, (92, 186, 92)))
        self._motion.note(seen.ms, ball)
        if paddle is None:
            return hold(NOOP)
        across, down = self._motion.speed
        target = (self.BOTTOM - self.TOP) / 2
        if ball is not None and across > 0:
            arrives = ball[1] + (self.COLUMN - ball[0]) / across * down
            target = reflected(arrives, 0, self.BOTTOM - self.TOP) + (5 if down > 0 else -5)
        if abs(target - paddle[1]) < 3:
            return hold(NOOP)
        return hold(LEFT if target > paddle[1] else RIGHT)


class Breakout:
    """Goes to where the ball will come down."""

    BELOW: Final = 93
    PADDLE: Final = 189
    LEFT_WALL, RIGHT_WALL = 8, 152

    def __init__(self) -> None:
        self._motion = Motion()

    def __call__(self, seen: Seen) -> Any:
        """Move the paddle, and serve when there is no ball."""
        red = coloured(seen.picture, (200, 72, 72))
        red[:, : self.LEFT_WALL] = red[:, self.RIGHT_WALL :] = False
        ball = middle(red[self.BELOW : self.PADDLE])
        paddle = middle(red[self.PADDLE : self.PADDLE + 4])
        self._motion.note(seen.ms, ball)
        if ball is None:
            return hold(FIRE)
        if paddle is None:
            return hold(NOOP)
        across, down = self._motion.speed
        target = ball[0]
        if down > 0:
            arrives = ball[0] + (self.PADDLE - self.BELOW - ball[1]) / down * across
            target = reflected(arrives, self.LEFT_WALL, self.RIGHT_WALL)
        if abs(target - paddle[0]) < 4:
            return hold(NOOP)
        return hold(RIGHT if target > paddle[0] else LEFT)


class Kaboom:
    """Holds the buckets under the lowest bomb; fire lets the next lot fall."""

    BELOW: Final = 68
    BUCKETS: Final = 140

    def __call__(self, seen: Seen) -> Any:
        """Move the buckets."""
        low = seen.picture[self.BELOW :, 8:152]
        bombs = boxes(coloured(low, (111, 111, 111), 1) | coloured(low, (74, 74, 74), 1))
        buckets = middle(coloured(seen.picture[self.BUCKETS : 190, 8:152], (162, 162, 42)))
        if not bombs or buckets is None:
            return hold(FIRE)
        target, _ = centre(max(bombs, key=lambda box: box[3]))
        if abs(target - buckets[0]) < 3:
            return hold(NOOP)
        return hold(RIGHT if target > buckets[0] else LEFT)
