"""One process attached to many replayed remotes at 60 fps: whether it keeps every frame, and how long a step takes."""

from __future__ import annotations

import time
from typing import Any, Final

import pluriverse
from pluriverse.env.vector import VectorEnv
from replay import FPS, replaying
from report import Effort, Figures, Line, Measurement, Target, percentile
from streams import Recorded, gym_core, sprites

GAMES: Final = 24
SCREENS: Final = 6
SPRITE_FRAMES: Final = 60

# Clocks are compared once a second, and the first episode begins.
WARM_UP_S: Final = 2.5

# A recording may have fewer than 60 frames a second, and is played at 60: what there must be more of than is played.
SPARE_S: Final = 6

# An agent that decides fifteen times a second.
FRAMES_A_DECISION: Final = 4
KEYS: Final = ("ArrowLeft", "ArrowRight")


def run(effort: Effort) -> Figures:
    """Per cent of the frames that were due, milliseconds of a step, and this process' CPU."""
    seconds = effort.of(12, 5)
    games = gym_core(seconds + SPARE_S)
    assert len(games.updates) > FPS * (seconds + WARM_UP_S), "the remote that was recorded drew too few frames"
    return {
        **{f"games_{key}": value for key, value in _attached(games, GAMES, seconds).items()},
        **{f"screens_{key}": value for key, value in _attached(sprites(SPRITE_FRAMES), SCREENS, seconds).items()},
    }


def _attached(recorded: Recorded, n: int, seconds: float) -> Figures:
    with replaying(recorded) as server, pluriverse.make(remotes=server.remotes(n)) as env:
        server.start()
        env.reset()
        _play(env, WARM_UP_S)
        cpu_before = time.process_time()
        steps_ms, own_ms, frames, lasted_s = _play(env, seconds)
        return {
            "kept": 100 * frames / (FPS * n * lasted_s),
            "step_p50": percentile(steps_ms, 50),
            "step_p99": percentile(steps_ms, 99),
            "own_p99": percentile(own_ms, 99),
            "cpu": 100 * (time.process_time() - cpu_before) / lasted_s,
        }


def _play(env: VectorEnv, seconds: float) -> tuple[list[float], list[float], int, float]:
    """Step at 60 fps: milliseconds of each step, and of its own CPU; frames that were decoded meanwhile; seconds."""
    steps_ms: list[float] = []
    own_ms: list[float] = []
    frames = 0
    # What came before the first step isn't ours to count.
    env.step([[]] * env.n)
    first = last = began = time.monotonic()
    for number in range(int(FPS * seconds)):
        time.sleep(max(0.0, began + number / FPS - time.monotonic()))
        action_n = _keys(number, env.n)
        own, last = time.thread_time(), time.monotonic()
        info: dict[str, Any] = env.step(action_n)[3]
        steps_ms.append(1000 * (time.monotonic() - last))
        own_ms.append(1000 * (time.thread_time() - own))
        for index, info_i in enumerate(info["n"]):
            assert "error" not in info_i, f"remote {index}: {info_i['error']}"
            frames += info_i["stats.vnc.updates.n"]
    return steps_ms, own_ms, frames, last - first


def _keys(number: int, n: int) -> list[list[tuple[str, str, bool]]]:
    if number % FRAMES_A_DECISION:
        return [[] for _ in range(n)]
    held = number // FRAMES_A_DECISION % 2
    return [[("KeyEvent", KEYS[1 - held], False), ("KeyEvent", KEYS[held], True)] for _ in range(n)]


# A step more or less at either end.
EVERY_FRAME: Final = Target(100.5, 99.5)

MEASUREMENT: Final = Measurement(
    "many",
    (
        Line("24 replayed Atari remotes at 60 fps, frames kept", "%", "games_kept", EVERY_FRAME),
        Line("step() over 24 remotes, p50", "ms", "games_step_p50"),
        Line("step() over 24 remotes, p99", "ms", "games_step_p99", Target(4)),
        Line("of that the step's own CPU; the rest is waiting for a core, p99", "ms", "games_own_p99"),
        Line("CPU of the process with 24 remotes", "% of a core", "games_cpu"),
        Line("6 replayed full screens of sprites at 60 fps, frames kept", "%", "screens_kept", EVERY_FRAME),
        Line("step() over 6 remotes, p99", "ms", "screens_step_p99"),
        Line("CPU of the process with 6 full screens", "% of a core", "screens_cpu"),
    ),
    run,
)
