"""A script for the level Hive of Hex-a-hop, which is always the same."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from pluriverse_eval.agents import Seen, hold

from .finding import Mask, Patience, coloured

# Found by search: it breaks each green tile once and ends on a grey one.
JUMPS: Final = "sdsdedewewqwqasdsaqwqwee"
KEYS: Final = "wsuqead"
"""As the environment's actions have them: up, down, undo, up left, up right, down left, down right."""

# How long a jump takes at least, and how long it may take to be seen.
JUMP_MS: Final = 150.0
PATIENCE_MS: Final = 1000.0


class HexAHop:
    """Jumps along a path; and waits until each jump is counted."""

    # Where the game shows how many jumps were made.
    LEFT, TOP, RIGHT, BOTTOM = 246, 514, 296, 534

    def __init__(self) -> None:
        self._patience = Patience(PATIENCE_MS)
        self._before: Mask | None = None
        self._made = 0
        self._next_ms = 0.0

    def __call__(self, seen: Seen) -> Any:
        """Jump, or wait."""
        count = coloured(seen.picture[self.TOP : self.BOTTOM, self.LEFT : self.RIGHT], (255, 255, 255), 30)
        if seen.ms < self._next_ms or self._patience.waits(seen.ms, count):
            return None
        # Else the last jump was lost, and is made again.
        if self._before is not None and not np.array_equal(count, self._before):
            self._made += 1
        self._before = count
        if self._made >= len(JUMPS):
            return None
        self._next_ms = seen.ms + JUMP_MS
        return hold(KEYS.index(JUMPS[self._made]))
