"""One learner that takes the frames of vectors of 24 replayed remotes, each in an actor of a Ray cluster."""

from __future__ import annotations

import os
import secrets
import tempfile
import time
from typing import Any, Final

import numpy as np
import ray as ray_package
from pluriverse.adapters.pictures import PictureOptions
from pluriverse.fleet import RayVector
from pluriverse.remotes.ray import RayOptions
from replay import FPS, replaying
from report import Effort, Figures, Line, Measurement
from streams import gym_core

# Most of its types are unknown to type checkers.
ray: Final[Any] = ray_package

VECTORS: Final = (1, 2, 4)
REMOTES: Final = 24
RECORDED_S: Final = 10

# Ray keeps the first that a process gives it. Without one it would make one in the home folder.
TOKEN: Final = secrets.token_hex(32)
WARM_UP_S: Final = 3.0


def run(effort: Effort) -> Figures:
    """Frames a second, and what share of those that were due."""
    seconds = effort.of(10, 4)
    games = gym_core(RECORDED_S, loops=True)
    figures: Figures = {}
    # The paths of Ray's sockets have to be short, and it leaves files.
    with tempfile.TemporaryDirectory(prefix="pv-", dir="/tmp") as folder:
        os.environ.update(RAY_TMPDIR=folder, RAY_USAGE_STATS_ENABLED="0", RAY_AUTH_TOKEN=TOKEN)
        ray.init(num_cpus=len(VECTORS) * 2, include_dashboard=False, log_to_driver=False, configure_logging=False)
        try:
            for vectors in VECTORS:
                with replaying(games) as server:
                    server.start()
                    rate = _rate(server.remotes(REMOTES), vectors, seconds)
                figures[f"rate_{vectors}"] = rate
                figures[f"kept_{vectors}"] = 100 * rate / (FPS * REMOTES * vectors)
        finally:
            ray.shutdown()
    return figures


def _rate(remotes: str, vectors: int, seconds: float) -> float:
    """Return the pictures a second that the learner has in its hands; each is looked at."""
    pictures = PictureOptions(size=(84, 84), grey=True)
    with RayVector(None, vectors, remotes=remotes, reserve=RayOptions(cpu=0.0), pictures=pictures) as envs:
        _play(envs, WARM_UP_S)
        return _play(envs, seconds)


def _play(envs: RayVector, seconds: float) -> float:
    began = time.monotonic()
    frames = 0
    while (now := time.monotonic()) < began + seconds:
        batch = envs.recv()
        assert batch.observation.shape[0] == len(batch)
        frames += len(batch)
        envs.send(np.zeros(len(batch), np.int64), batch.env_id)
    return frames / (now - began)


MEASUREMENT: Final = Measurement(
    "rays",
    tuple(
        line
        for vectors in VECTORS
        for line in (
            Line(f"frames of {vectors * REMOTES} remotes in {vectors} of Ray's actors", "fps", f"rate_{vectors}"),
            Line(f"of those that {vectors * REMOTES} remotes at 60 fps draw", "%", f"kept_{vectors}"),
        )
    ),
    run,
)
