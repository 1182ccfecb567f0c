"""Snapshots and worlds of desktop's games in lockstep: what they take, and whether what follows is the same."""

from __future__ import annotations

import random
import time
import zlib
from collections.abc import Callable
from typing import Any, Final, TypeVar

import psutil
from gymnasium.spaces import Discrete
from pluriverse.adapters.backend import Phase
from pluriverse.adapters.core import Core
from pluriverse.adapters.gymnasium import PluriverseEnv
from pluriverse.adapters.pictures import PictureOptions
from pluriverse.adapters.snapshots import Snapshot
from report import Effort, Figures, Line, Measurement, Target, percentile

GAMES: Final = ("KoboDeluxe", "Vitetris", "LTris", "Gnome2048", "Powermanga")
SKIP: Final = 4
FRAMES: Final = 300
BETWEEN: Final = 40
AFTER: Final = 4
AHEAD: Final = 12
SEED: Final = 3

# A remote keeps 1 GiB: some sixty of a program that draws with OpenGL.
MOMENTS: Final = 50
FEW_MOMENTS: Final = 5

PERCENT: Final = 100
MB: Final = 1_000_000

MANY_OF: Final = "KoboDeluxe"
MANY_WORLDS: Final = 64
FEW_WORLDS: Final = 16
PLAYED_WORLDS: Final = 16
STEPS: Final = 100
SMALL: Final = PictureOptions(size=(84, 84), grey=True)

_T = TypeVar("_T")


def run(effort: Effort) -> Figures:
    """Milliseconds, megabytes, and per cent of the moments after which everything was the same."""
    figures: Figures = {}
    for game in GAMES:
        env = PluriverseEnv(f"desktop.{game}-v0", remotes="local:1", clock="lockstep", frame_skip=SKIP)
        try:
            measured = _measured(env, effort.of(MOMENTS, FEW_MOMENTS))
        finally:
            env.close()
        figures |= {f"{game} {name}": value for name, value in measured.items()}
    return figures | _many(effort.of(MANY_WORLDS, FEW_WORLDS))


def _many(count: int) -> Figures:
    """Many worlds of one program in one remote: their start, their memory, and how many steps a second they play."""
    one, figures = _steps_per_s(1), _start(count)
    return {**figures, "worlds": count, "one world": one, "16 worlds": _steps_per_s(PLAYED_WORLDS)}


def _start(count: int) -> Figures:
    with Core(f"desktop.{MANY_OF}-v0", "local:1", clock="lockstep", frame_skip=SKIP, pictures=SMALL) as core:
        _reset(core)
        moment, before = core.snapshot(0), _bytes_of_worlds()
        beside, took = _timed(lambda: _at(core, moment, count - 1))
        # As they are when they have played.
        _play_all(beside, FRAMES // SKIP // 4)
        return {"start of the worlds": took / 1000, "memory of the worlds": (_bytes_of_worlds() - before) / MB}


def _at(core: Core, moment: Snapshot, count: int) -> Core:
    beside = core.beside(count)
    beside.restore_all([moment] * count)
    return beside


def _steps_per_s(count: int) -> float:
    with Core(f"desktop.{MANY_OF}-v0", "local:1", clock="lockstep", frame_skip=SKIP, pictures=SMALL) as core:
        _reset(core)
        played = core if count == 1 else _at(core, core.snapshot(0), count)
        _play_all(played, BETWEEN)
        return 1000 * count * STEPS / _timed(lambda: _play_all(played, STEPS))[1]


def _reset(core: Core) -> None:
    for index in range(core.n):
        core.reset(index, SEED)
    core.receive_all()


def _play_all(core: Core, steps: int) -> None:
    """Have each play so many steps, as fast as it can."""
    left = dict.fromkeys(range(core.n), steps)
    core.send(dict.fromkeys(left, 0))
    while left:
        for index in core.receive(1):
            left[index] -= 1
            if core.phase(index) is Phase.ENDED:
                core.reset(index, SEED)
                core.receive_all()
            if left[index]:
                core.send({index: 0})
            else:
                del left[index]


def _measured(env: PluriverseEnv, count: int) -> Figures:
    chance = random.Random(SEED)
    first = _timed(lambda: env.reset(seed=SEED))[1]
    resets = [_timed(lambda: env.reset(seed=SEED))[1] for _ in range(5)]
    moments: list[tuple[Any, int, list[int]]] = []
    snapshots: list[float] = []
    # What moves takes longer, and does after any moment: so these steps follow some that were played, too.
    plain, after = list[float](), list[float]()
    for number in range(count):
        _played(env, number, chance.randrange(BETWEEN // 2, BETWEEN))
        plain += _steps_after(env)
    before = _templates_bytes()
    for number in range(count):
        moment, took = _timed(env.snapshot)
        snapshots.append(took)
        moments.append((moment, number, _played(env, number, FRAMES // SKIP)))
        env.restore(moment)
        after += _steps_after(env)
        env.restore(moment)
        _played(env, count + number, chance.randrange(BETWEEN // 2, BETWEEN))
    kept = (_templates_bytes() - before) / MB / count
    restores: list[float] = []
    same = 0
    chance.shuffle(moments)
    for moment, number, expected in moments:
        restores.append(_timed(lambda moment=moment: env.restore(moment))[1])
        same += _played(env, number, FRAMES // SKIP) == expected
    ahead: list[float] = []
    for number in range(AHEAD):
        ahead.append(_timed(lambda: env.restore(moments[0][0]))[1])
        _played(env, number, BETWEEN)
    return {
        "snapshot": percentile(snapshots, 50),
        "restore": percentile(restores, 50),
        "restore p95": percentile(restores, 95),
        # From the third time on, a world is there already.
        "ahead": percentile(ahead[2:], 50),
        "step": percentile(plain, 50),
        "step after": percentile(after, 50),
        "first reset": first,
        "reset": percentile(resets, 50),
        "kept": kept,
        "same": PERCENT * same / count,
    }


def _steps_after(env: PluriverseEnv) -> list[float]:
    """Return how long steps take from the second on, of those that there are."""
    took: list[float] = []
    for _ in range(1 + AFTER):
        (_, _, terminated, truncated, _), ms = _timed(lambda: env.step(0))
        took.append(ms)
        if terminated or truncated:
            env.reset(seed=SEED)
            break
    return took[1:]


def _played(env: PluriverseEnv, seed: int, steps: int) -> list[int]:
    """Play on with actions by ``seed``; return a checksum of each picture, until the episode is over."""
    assert isinstance(env.action_space, Discrete)
    chance = random.Random(seed)
    seen: list[int] = []
    for _ in range(steps):
        picture, reward, terminated, truncated, _ = env.step(chance.randrange(int(env.action_space.n)))
        seen.append(zlib.crc32(repr((reward, terminated, truncated)).encode(), zlib.crc32(picture.tobytes())))
        if terminated or truncated:
            # Else the remote begins an episode of another seed, and with it a new program.
            env.reset(seed=SEED)
            break
    return seen


def _templates_bytes() -> int:
    """Return what all templates take of the memory, of what they share a part each."""
    found = [process for process in psutil.process_iter(["name"]) if process.info["name"] == "template"]
    return sum(process.memory_full_info().pss for process in found)


def _bytes_of_worlds() -> int:
    """Return what templates, X servers and programs take of the memory."""
    names = ("template", "Xvfb", MANY_OF.lower())
    found = [process for process in psutil.process_iter(["name"]) if process.info["name"] in names]
    return sum(process.memory_full_info().pss for process in found)


def _timed(do: Callable[[], _T]) -> tuple[_T, float]:
    began = time.perf_counter()
    result = do()
    return result, 1000 * (time.perf_counter() - began)


MEASUREMENT: Final = Measurement(
    "lockstep-worlds",
    (
        *(
            line
            for game in GAMES
            for line in (
                Line(f"{game}: a snapshot, p50", "ms", f"{game} snapshot", Target(5)),
                Line(f"{game}: going back, p50", "ms", f"{game} restore", Target(4)),
                Line(f"{game}: going back, p95", "ms", f"{game} restore p95", Target(10)),
                Line(f"{game}: going back to the same moment again, p50", "ms", f"{game} ahead", Target(2)),
                Line(
                    f"{game}: a reset with a seed that was begun before, p50",
                    "ms",
                    f"{game} reset",
                    Target(8),
                    f"{game} first reset",
                    "the first",
                ),
                Line(
                    f"{game}: a step from the second after going back, p50",
                    "ms",
                    f"{game} step after",
                    Target(1.05, of_plain=True),
                    f"{game} step",
                    "without",
                ),
                Line(f"{game}: memory of a kept snapshot", "MB", f"{game} kept", Target(3)),
                Line(f"{game}: what follows is the same", "%", f"{game} same", Target(low=100)),
            )
        ),
        Line("worlds of KoboDeluxe in one remote", "", "worlds"),
        Line("their start", "s", "start of the worlds", Target(1)),
        Line("their memory", "MB", "memory of the worlds", Target(400)),
        Line("steps of 16 worlds", "/s", "16 worlds", Target(low=1.8, of_plain=True), "one world", "one world's"),
    ),
    run,
)
