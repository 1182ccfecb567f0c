"""Clicks as a discrete choice of cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from pluriverse_protocol.events import Event, PointerEvent

from pluriverse.env.base import Env, Wrapper
from pluriverse.errors import ActionError
from pluriverse.spaces import DiscreteSpace

# The task's area of World of Bits, in pixels: left, top, right, bottom.
WORLD_OF_BITS: Final = (10, 125, 170, 285)

Box = tuple[int, int, int, int]


class SoftmaxClickMouse(Wrapper):
    """Divides ``active_region`` (left, top, right, bottom) into cells of ``step`` pixels; action i clicks cell i.

    Cells go down each column, then to the next column. Those whose middle is in a region of ``noclick_regions`` (left,
    top, right, bottom) are left out. None does nothing; lists of events are passed on as they are.
    """

    def __init__(
        self,
        env: Env,
        active_region: Box = WORLD_OF_BITS,
        *,
        step: int = 10,
        noclick_regions: Sequence[Box] = (),
    ) -> None:
        super().__init__(env)
        self.points = _points(active_region, step, noclick_regions)
        self._actions = [_click(x, y) for x, y in self.points]
        self.action_space = DiscreteSpace(self._actions)

    def step(self, action_n: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """Click, and see."""
        return self.env.step([self._events(index, action) for index, action in enumerate(action_n)])

    def nearest(self, x: int, y: int) -> int:
        """The cell whose middle is nearest to (x, y)."""
        return min(range(len(self.points)), key=lambda i: (self.points[i][0] - x) ** 2 + (self.points[i][1] - y) ** 2)

    def _events(self, index: int, action: Any) -> Sequence[Any]:
        if action is None:
            return ()
        if isinstance(action, list | tuple):
            return cast("Sequence[Any]", action)
        number = int(action.item() if hasattr(action, "item") else action)
        if not 0 <= number < len(self._actions):
            raise ActionError(f"action {index} is {action!r:.80}; expected an integer of 0 to {len(self._actions) - 1}")
        return self._actions[number]


def _points(region: Box, step: int, excluded: Sequence[Box]) -> list[tuple[int, int]]:
    left, top, right, bottom = region
    middles = [
        (min(x + step // 2, right - 1), min(y + step // 2, bottom - 1))
        for x in range(left, right, step)
        for y in range(top, bottom, step)
    ]
    return [point for point in middles if not any(_within(point, box) for box in excluded)]


def _within(point: tuple[int, int], box: Box) -> bool:
    return box[0] <= point[0] <= box[2] and box[1] <= point[1] <= box[3]


def _click(x: int, y: int) -> list[Event]:
    return [PointerEvent(x, y, 0), PointerEvent(x, y, 1), PointerEvent(x, y, 0)]
