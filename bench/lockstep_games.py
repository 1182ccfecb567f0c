"""Desktop's games in lockstep, through Gymnasium: how much faster than life they are, and whether two runs agree."""

from __future__ import annotations

import hashlib
import random
import time
from typing import Final

from gymnasium.spaces import Discrete
from pluriverse.adapters.gymnasium import PluriverseEnv
from report import Effort, Figures, Line, Measurement, Target

GAMES: Final = (
    *("ChromiumBsu", "FrozenBubble", "Gnome2048", "HexAHop", "KoboDeluxe", "MoonBuggy", "SlimeVolley", "Vitetris"),
)
SKIP: Final = 4
FRAMES: Final = 200
PERCENT: Final = 100

# The game that is slowest to begin takes seconds: a hundred of each are an hour.
EPISODES: Final = 100
FEW_EPISODES: Final = 3


def run(effort: Effort) -> Figures:
    """How many times faster than life each game is, and per cent of its episodes that are the same twice."""
    figures: Figures = {}
    for game in GAMES:
        env = PluriverseEnv(f"desktop.{game}-v0", remotes="local:1", clock="lockstep", frame_skip=SKIP)
        try:
            figures |= _played(game, env, effort.of(EPISODES, FEW_EPISODES))
        finally:
            env.close()
    return figures


def _played(game: str, env: PluriverseEnv, episodes: int) -> Figures:
    steps, seconds, same = 0, 0.0, 0
    for seed in range(episodes):
        runs: list[list[str]] = []
        for _ in range(2):
            seen, took = _episode(env, seed)
            runs.append(seen)
            steps, seconds = steps + len(seen) - 1, seconds + took
        same += runs[0] == runs[1]
    frame_time = env.core.described.frame_time
    assert frame_time is not None
    return {game: steps * SKIP * frame_time / seconds, f"{game} same": PERCENT * same / episodes}


def _episode(env: PluriverseEnv, seed: int) -> tuple[list[str], float]:
    """Return what is to be the same of an episode, and the seconds that its steps took."""
    assert isinstance(env.action_space, Discrete)
    chance = random.Random(seed)
    picture, _ = env.reset(seed=seed)
    seen, took = [_digest(picture.tobytes())], 0.0
    for _ in range(FRAMES // SKIP):
        began = time.perf_counter()
        picture, reward, terminated, truncated, info = env.step(chance.randrange(int(env.action_space.n)))
        took += time.perf_counter() - began
        seen.append(f"{_digest(picture.tobytes())} {reward} {terminated} {truncated} {'late' in info}")
        if terminated or truncated:
            break
    return seen, took


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()


MEASUREMENT: Final = Measurement(
    "lockstep-games",
    tuple(
        line
        for game in GAMES
        for line in (
            Line(f"{game}, 800x600x3, {SKIP} frames a step", "x real time", game, Target(low=5)),
            Line(f"{game}, episodes of {FRAMES} frames that are the same twice", "%", f"{game} same", Target(low=100)),
        )
    ),
    run,
)
