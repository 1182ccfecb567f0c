"""How soon remotes of a warm pool play, one and 32 at once, beside remotes that are started for it."""

from __future__ import annotations

import sys
import time
from typing import Any, Final

import pluriverse
from pluriverse.remotes import Pool, RemoteManager, open_pool
from remote import PONG
from report import Effort, Figures, Line, Measurement, Target, percentile
from support.remotes import IMAGE, engine_has_image

# How many play at once. At 60 fps so many need twice the processors of a machine with two cores.
MANY: Final = 32
MANY_GAME: Final = "gym-core.PongDeterministicSlow-v3"
MANY_FPS: Final = 15

CLAIMS: Final = 20
QUICK_CLAIMS: Final = 5

# Starting so many containers takes as long as the machine needs.
START_S: Final = 300.0

LOOK_S: Final = 0.05


def run(effort: Effort) -> Figures:
    """Milliseconds."""
    figures: Figures = {}
    claims = effort.of(CLAIMS, QUICK_CLAIMS)
    with open_pool("local?warm=1", PONG, start_timeout_s=START_S) as pool:
        figures["local_claim"] = percentile([1000 * _claim(pool) for _ in range(claims)], 50)
    figures["local_start"] = percentile([1000 * _until_played("local:1", 1) for _ in range(effort.of(5, 2))], 50)
    if not _can_contain():
        return figures
    with open_pool("docker?warm=1", PONG, start_timeout_s=START_S) as pool:
        figures["docker_claim"] = percentile([1000 * _claim(pool) for _ in range(claims)], 50)
    return figures


def run_many(_: Effort) -> Figures:
    """Seconds until all of many play."""
    figures: Figures = {}
    if not _can_contain():
        return figures
    figures["started"] = _until_played(f"docker:{MANY}", MANY, MANY_GAME)
    with open_pool(f"docker?warm={MANY}", MANY_GAME, start_timeout_s=START_S) as pool:
        pool.wait_until_warm(START_S)
        figures["claimed"] = _until_played(pool.claim(MANY), MANY, MANY_GAME)
    return figures


def _can_contain() -> bool:
    if not engine_has_image():
        print(f"claims: no Docker engine with {IMAGE}, so no container was started; make image", file=sys.stderr)
        return False
    return True


def _claim(pool: Pool[Any]) -> float:
    """Seconds from the claim of a spare to its first observation."""
    pool.wait_until_warm(START_S)
    return _until_played(pool.claim(1), 1)


def _until_played(remotes: str | RemoteManager, n: int, game: str = PONG) -> float:
    """Seconds until each of ``n`` remotes has had an observation."""
    began = time.perf_counter()
    with pluriverse.make(game, remotes=remotes, start_timeout_s=START_S) as env:
        env.reset()
        waiting = set(range(n))
        while waiting:
            env.wait(LOOK_S)
            observations = env.step([[]] * n)[0]
            waiting -= {index for index in waiting if observations[index] is not None}
        return time.perf_counter() - began


MEASUREMENT: Final = Measurement(
    "claims",
    (
        Line(
            "claim from a warm pool of processes → first frame, p50",
            "ms",
            "local_claim",
            Target(500),
            "local_start",
            "one that is started for it",
        ),
        Line("claim from a warm pool of containers → first frame, p50", "ms", "docker_claim", Target(500)),
    ),
    run,
)

MANY_MEASUREMENT: Final = Measurement(
    "claims-many",
    (Line(f"{MANY} warm containers at {MANY_FPS} fps → all play", "s", "claimed", None, "started", "started for it"),),
    run_many,
)
