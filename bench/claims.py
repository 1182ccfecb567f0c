"""How soon a shared remote plays, beside one that is started."""

from __future__ import annotations

import time
from typing import Final

import pluriverse
from pluriverse.remotes import share
from remote import PONG
from report import Effort, Figures, Line, Measurement, Target, percentile

CLAIMS: Final = 20
QUICK_CLAIMS: Final = 5

LOOK_S: Final = 0.05


def run(effort: Effort) -> Figures:
    """Milliseconds."""
    with share("local:1", PONG) as shared:
        taken = [_until_played(shared.url) for _ in range(effort.of(CLAIMS, QUICK_CLAIMS))]
    started = [_until_played("local:1") for _ in range(effort.of(5, 2))]
    return {"taken": percentile(taken, 50), "started": percentile(started, 50)}


def _until_played(remotes: str) -> float:
    """Milliseconds until a remote has had an observation."""
    began = time.perf_counter()
    with pluriverse.make(PONG, remotes=remotes) as env:
        env.reset()
        while env.step([[]])[0][0] is None:
            env.wait(LOOK_S)
        return 1000 * (time.perf_counter() - began)


MEASUREMENT: Final = Measurement(
    "claims",
    (Line("take a shared remote → first frame, p50", "ms", "taken", Target(500), "started", "one that is started"),),
    run,
)
