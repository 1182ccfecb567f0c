"""Many remotes in one process: what a frame and a remote cost as they become more, and what the dead do to others."""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Final

import pluriverse
import psutil
from pluriverse.env.vector import VectorEnv
from replay import replaying
from report import Effort, Figures, Line, Measurement, Target, percentile
from streams import HEIGHT, WIDTH, Recorded, gym_core

SIZES: Final = (24, 96, 192)
RATES: Final = (60, 15, 5)

# Its ball and its other player move whoever plays.
GAME: Final = "gym-core.PongNoFrameskip-v3"
RECORDED_S: Final = 10

# So many connections of remotes that draw once a second.
SLOW: Final = 1000
SLOW_FPS: Final = 1

# All of them send their first whole screen, and are asked for the time ten times.
SLOW_WARM_UP_S: Final = 20.0

# Of these so many are killed at once.
VICTIMS_AND_OTHERS: Final = (10, 90)
KILLED_FPS: Final = 15

# Two sockets each, and what Python opens.
DESCRIPTORS: Final = 8192

# Clocks are compared, first frames come, and the allocator settles.
WARM_UP_S: Final = 3.0

# RGB, and what the decoder keeps.
SCREEN_MIB: Final = WIDTH * HEIGHT * 3 / 2**20

MIB: Final = 2**20


def run(effort: Effort) -> Figures:
    """Microseconds of CPU a frame, MiB a remote, and milliseconds."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < DESCRIPTORS:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(DESCRIPTORS, hard), hard))
    seconds = effort.of(8, 4)
    games = gym_core(RECORDED_S, loops=True, game=GAME)
    # The first update is the whole screen.
    figures: Figures = {"traffic": sum(map(len, games.updates[1:])) / len(games.updates[1:]) * 60 / 1024}
    for fps in RATES:
        for n in SIZES:
            figures.update({f"{key}_{n}_at_{fps}": value for key, value in _attached(games, n, fps, seconds).items()})
        figures[f"growth_at_{fps}"] = (
            figures[f"frame_us_{SIZES[-1]}_at_{fps}"] / figures[f"frame_us_{SIZES[0]}_at_{fps}"]
        )
    slow = _attached(games, SLOW, SLOW_FPS, seconds, warm_up_s=SLOW_WARM_UP_S)
    figures.update({f"slow_{key}": value for key, value in slow.items()})
    figures.update(_killed(games, seconds))
    return figures


def _attached(games: Recorded, n: int, fps: int, seconds: float, warm_up_s: float = WARM_UP_S) -> Figures:
    """One vector of ``n`` remotes of which each draws ``fps`` frames a second, stepped as often."""
    with replaying(games, fps) as server:
        before = _rss_mib()
        # Connecting to many takes longer than a remote may be silent.
        server.start()
        with pluriverse.make(remotes=server.remotes(n)) as env:
            env.reset()
            _play(env, fps, warm_up_s)
            cpu = time.process_time()
            steps_ms, frames, lasted_s = _play(env, fps, seconds)
            spent_s = time.process_time() - cpu
            memory = (_rss_mib() - before) / n
    gc.collect()
    return {
        "frame_us": 1e6 * spent_s / frames,
        "kept": 100 * frames / (fps * n * lasted_s),
        "cpu": 100 * spent_s / lasted_s,
        "step_p99": percentile(steps_ms, 99),
        "memory": memory,
        "own_memory": memory - SCREEN_MIB,
    }


def _killed(games: Recorded, seconds: float) -> Figures:
    """The longest that a remote which lives went without a new frame, before and after others were killed."""
    dying, living = VICTIMS_AND_OTHERS
    with ExitStack() as stack:
        victims = stack.enter_context(replaying(games, KILLED_FPS))
        others = stack.enter_context(replaying(games, KILLED_FPS))
        addresses = f"{victims.remotes(dying)},{others.remotes(living).removeprefix('vnc://')}"
        env = stack.enter_context(pluriverse.make(remotes=addresses))
        for server in (victims, others):
            server.start()
        env.reset()
        _play(env, KILLED_FPS, WARM_UP_S)
        before = _longest_gaps(env, range(dying, dying + living), seconds / 2, lambda: None)
        after = _longest_gaps(env, range(dying, dying + living), seconds / 2, victims.process.kill)
    return {"gap_before": max(before), "gap_after": max(after)}


def _play(env: VectorEnv, fps: int, seconds: float) -> tuple[list[float], int, float]:
    """Step ``fps`` times a second: milliseconds of each step, frames decoded meanwhile, seconds."""
    steps_ms: list[float] = []
    frames = 0
    # What came before the first step isn't ours to count.
    env.step([[]] * env.n)
    first = last = began = time.monotonic()
    for number in range(int(fps * seconds)):
        time.sleep(max(0.0, began + number / fps - time.monotonic()))
        last = time.monotonic()
        info = env.step([[]] * env.n)[3]
        steps_ms.append(1000 * (time.monotonic() - last))
        frames += sum(info_i.get("stats.vnc.updates.n", 0) for info_i in info["n"])
    return steps_ms, frames, last - first


def _longest_gaps(env: VectorEnv, indices: Sequence[int], seconds: float, act: Callable[[], object]) -> list[float]:
    """Each index' longest time between two new frames, in milliseconds; ``act`` after a fifth of the time."""
    began = time.monotonic()
    seen = dict.fromkeys(indices, began)
    longest = dict.fromkeys(indices, 0.0)
    acted = False
    while (now := time.monotonic()) < began + seconds:
        if not acted and now > began + seconds / 5:
            act()
            acted = True
        info = env.step([[]] * env.n)[3]
        now = time.monotonic()
        for index in indices:
            if info["n"][index].get("stats.vnc.updates.n", 0):
                longest[index] = max(longest[index], 1000 * (now - seen[index]))
                seen[index] = now
        env.wait(1 / KILLED_FPS, indices)
    return list(longest.values())


def _rss_mib() -> float:
    return psutil.Process().memory_info().rss / MIB


LIVING: Final = VICTIMS_AND_OTHERS[1]

# One frame time more than they went without before.
MEASUREMENT: Final = Measurement(
    "fleet",
    (
        *(
            line
            for fps in RATES
            for line in (
                *(
                    Line(f"CPU of a frame, {n} replayed remotes of Pong at {fps} fps", "µs", f"frame_us_{n}_at_{fps}")
                    for n in SIZES
                ),
                Line(
                    f"a frame of {SIZES[-1]} beside one of {SIZES[0]}, {fps} fps",
                    "times",
                    f"growth_at_{fps}",
                    Target(1.2),
                ),
            )
        ),
        Line(f"frames kept, {SIZES[-1]} remotes at 60 fps", "%", f"kept_{SIZES[-1]}_at_60", Target(100.5, 99.5)),
        Line(f"CPU of the process, {SIZES[-1]} remotes at 60 fps", "% of a core", f"cpu_{SIZES[-1]}_at_60"),
        Line(
            f"memory of a remote above one picture, {SIZES[-1]} at 60 fps",
            "MiB",
            f"own_memory_{SIZES[-1]}_at_60",
            Target(4),
        ),
        Line("what a remote sends of Pong at 60 fps", "KiB/s", "traffic"),
        Line(f"step() over {SLOW} remotes of 1 fps, p99", "ms", "slow_step_p99"),
        Line(f"CPU of the process with {SLOW} remotes of 1 fps", "% of a core", "slow_cpu"),
        Line(f"memory of each of {SLOW} remotes above one picture", "MiB", "slow_own_memory"),
        Line(
            f"longest wait for a frame of {LIVING} others as 10 are killed, 15 fps",
            "ms",
            "gap_after",
            Target(2000 / KILLED_FPS),
            "gap_before",
            "the same with nobody killed",
        ),
    ),
    run,
)
