"""Agents that know nothing: what others are compared with."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from pluriverse.adapters.actions import ActionMap
from pluriverse.adapters.computer import Click, Press

from pluriverse_eval.play import Play

from .agent import Hold, Seen, loop

# How long a random agent stays with what it does: about as often as people act.
ACT_MS: Final = 100.0

# Where there are keys beside the pointer, one act of so many is a key.
KEYS_EACH: Final = 3


class StillAgent:
    def play(self, play: Play) -> None:
        loop(play, lambda _: None)

    def close(self) -> None:
        """Do nothing."""


class RandomAgent:
    """Does anything that the environment has actions for, ten times a second; the same for the same seed."""

    def play(self, play: Play) -> None:
        random = np.random.default_rng(play.seed)
        frames = max(1, round(ACT_MS / play.frame_ms))
        loop(play, lambda seen: random_act(random, seen, frames))

    def close(self) -> None:
        """Do nothing."""


def random_act(random: np.random.Generator, seen: Seen, frames: int) -> Any:
    """Return any act that lasts about so many frames."""
    actions: ActionMap = seen.play.actions
    if actions.kind == "discrete":
        return Hold(int(random.integers(actions.n)), frames)
    if actions.kind == "pads":
        axes = actions.arrays()["axes"]
        buttons = random.integers(2, size=len(actions.pad_buttons))
        return Hold({"axes": random.uniform(axes.least, axes.most), "buttons": buttons}, frames)
    if actions.kind == "keys" or (actions.keys and not random.integers(KEYS_EACH)):
        return Press((int(random.choice(actions.keys)),))
    view = seen.play.view
    return Click(at=(int(random.integers(view.width)), int(random.integers(view.height))))
