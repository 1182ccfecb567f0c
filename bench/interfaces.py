"""Measures the interfaces' cost on top of their core, and whether EnvPool's keeps up with replayed remotes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from pluriverse.adapters import alf, dm_env, envpool
from pluriverse.adapters.core import Core
from pluriverse.adapters.gymnasium import PluriverseEnv, PluriverseVectorEnv
from pluriverse.adapters.pictures import PictureOptions
from replay import FPS, replaying
from report import Effort, Figures, Line, Measurement, Target, percentile
from streams import Recorded, gym_core

ENV_ID: Final = "gym-core.Replayed-v0"
REMOTES: Final = 8
MANY: Final = 16
BATCH: Final = 8

# Clocks are compared once a second, and the first episode begins.
WARM_UP_S: Final = 2.5

# A recording may have fewer than 60 frames a second, and is played at 60: what there must be more of than is played.
SPARE_S: Final = 20

HOT_STEPS: Final = 2_000

# Where the environment's pictures are of no interest to what is measured.
PICTURE: Final = 84


@dataclass(frozen=True, slots=True)
class Played:
    """An interface at work: what takes one step of all its environments, its core, and how to end it."""

    step: Callable[[], Any]
    core: Core
    close: Callable[[], None]


class Spent:
    """Adds up what calls take of this thread's processor time, in ``us`` microseconds; those within others once."""

    us = 0.0
    _is_within = False

    def within(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return the same function, counted."""

        def counted(*args: Any, **options: Any) -> Any:
            if self._is_within:
                return call(*args, **options)
            self._is_within = True
            began = time.thread_time_ns()
            try:
                return call(*args, **options)
            finally:
                self.us += (time.thread_time_ns() - began) / 1000
                self._is_within = False

        return counted


def _core(n: int) -> Callable[[str], Played]:
    """What all interfaces do with their core, and nothing else."""

    def play(remotes: str) -> Played:
        chosen = ",".join(remotes.split(",")[:n])
        core = Core(ENV_ID, chosen, pictures=PictureOptions(size=(PICTURE, PICTURE), grey=True))
        for index in range(n):
            core.reset(index)
        core.receive(n)
        actions = dict.fromkeys(range(n), 0)

        def step() -> None:
            core.send(actions)
            core.receive(n)

        return Played(step, core, core.close)

    return play


def _envpool(remotes: str) -> Played:
    env: Any = envpool.make_gymnasium(
        ENV_ID, remotes=remotes, stack_num=4, img_height=PICTURE, img_width=PICTURE, gray_scale=True
    )
    env.reset()
    actions = np.zeros(len(env), np.int32)
    return Played(lambda: env.step(actions), env.core, env.close)


def _gymnasium(remotes: str) -> Played:
    env = PluriverseEnv(ENV_ID, remotes=_first(remotes), size=(PICTURE, PICTURE), grey=True)
    env.reset()
    return Played(lambda: env.step(0), env.core, env.close)


def _gymnasium_vector(remotes: str) -> Played:
    env = PluriverseVectorEnv(ENV_ID, num_envs=REMOTES, remotes=remotes, size=(PICTURE, PICTURE), grey=True)
    env.reset()
    actions = np.zeros(REMOTES, np.int64)
    return Played(lambda: env.step(actions), env.core, env.close)


def _alf(remotes: str) -> Played:
    env = alf.load(ENV_ID, remotes, size=(PICTURE, PICTURE), grey=True)
    env.reset()
    actions = np.zeros(REMOTES, np.int64)
    return Played(lambda: env.step(actions), env.core, env.close)


def _dm_env(remotes: str) -> Played:
    env = dm_env.load(ENV_ID, _first(remotes), size=(PICTURE, PICTURE), grey=True)
    env.reset()
    return Played(lambda: env.step(0), env.core, env.close)


def _first(remotes: str) -> str:
    return remotes.split(",", maxsplit=1)[0]


# One line for each interface.
INTERFACES: Final[Mapping[str, Callable[[str], Played]]] = {
    "gymnasium, one environment": _gymnasium,
    "gymnasium, a vector": _gymnasium_vector,
    "dm_env": _dm_env,
    "envpool": _envpool,
    "alf": _alf,
}


def run(effort: Effort) -> Figures:
    """Microseconds of a step on top of the core, milliseconds until ``recv`` returns, per cent of frames kept."""
    seconds = effort.of(10, 4)
    games = gym_core(seconds + SPARE_S)
    figures: Figures = {}
    # What the clocks around the core's calls cost themselves.
    clocks = {n: _cost(_core(n), games, seconds)[0] for n in (1, REMOTES)}
    for name, make in INTERFACES.items():
        paced, hot, n = _cost(make, games, seconds)
        figures[f"{name}_cost"] = paced - clocks[n]
        figures[f"{name}_hot"] = hot
    return {**figures, **_kept(games, seconds)}


def _cost(make: Callable[[str], Played], games: Recorded, seconds: float) -> tuple[float, float, int]:
    """Microseconds that a step takes outside of the core's calls, and environments.

    First at the environments' pace, where the caches have forgotten the code between two frames; then step after step,
    with the last results of a core that doesn't wait.
    """
    with replaying(games) as server:
        server.start()
        played = make(server.remotes(REMOTES))
        core = played.core
        try:
            spent, step = Spent(), Spent()
            waiting = [getattr(core, name) for name in _CORES_CALLS]
            for call in waiting:
                setattr(core, call.__name__, spent.within(call))
            steps = step.within(played.step)
            outside: list[float] = []
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                spent.us = step.us = 0.0
                steps()
                outside.append((step.us - spent.us) / core.n)
            for call in waiting:
                setattr(core, call.__name__, call)
            for name, answer in _AT_ONCE.items():
                setattr(core, name, answer)
            core.receive_ready = lambda: list(range(core.n))
            began = time.thread_time_ns()
            for _ in range(HOT_STEPS):
                played.step()
            hot = (time.thread_time_ns() - began) / 1000 / HOT_STEPS / core.n
            return percentile(outside, 50), hot, core.n
        finally:
            played.close()


def _sent(_actions: Mapping[int, Any]) -> None:
    pass


def _waited(_count: int) -> None:
    pass


def _received(count: int) -> list[int]:
    return list(range(count))


def _received_all() -> None:
    pass


_CORES_CALLS: Final = ("reset", "send", "wait", "receive", "receive_ready", "receive_all", "picture")

# A core that answers with what it answered last.
_AT_ONCE: Final[Mapping[str, Callable[..., Any]]] = {
    "send": _sent,
    "wait": _waited,
    "receive": _received,
    "receive_all": _received_all,
}


def _kept(games: Recorded, seconds: float) -> Figures:
    """An agent that answers at once, whoever is there: how many of the frames it is given, and how soon."""
    with replaying(games) as server:
        server.start()
        env: Any = envpool.make_gymnasium(
            ENV_ID,
            remotes=server.remotes(MANY),
            batch_size=BATCH,
            img_height=PICTURE,
            img_width=PICTURE,
            gray_scale=True,
        )
        try:
            env.async_reset()
            _play(env, WARM_UP_S)
            cpu_before = time.process_time()
            wakes_ms, frames, lasted_s = _play(env, seconds)
            return {
                "kept": 100 * frames / (FPS * MANY * lasted_s),
                "wake_p50": percentile(wakes_ms, 50),
                "wake_p99": percentile(wakes_ms, 99),
                "cpu": 100 * (time.process_time() - cpu_before) / lasted_s,
            }
        finally:
            env.close()


def _play(env: Any, seconds: float) -> tuple[list[float], int, float]:
    """Milliseconds from the last frame of a batch to its ``recv``, frames handed out, and how long it took."""
    wakes_ms: list[float] = []
    frames = 0
    began = time.monotonic()
    while (now := time.monotonic()) < began + seconds:
        asked = time.time()
        indices = env.recv()[4]["env_id"]
        woke = time.time()
        at = max(env.core.result(index).image_local_time for index in indices.tolist())
        # What had come before it was asked for is handed out at once.
        wakes_ms.append(1000 * (woke - max(at, asked)))
        frames += len(indices)
        env.send(np.zeros(len(indices), np.int32), indices)
    return wakes_ms, frames, now - began


MEASUREMENT: Final = Measurement(
    "interfaces",
    (
        *(
            Line(f"{name}: {text}", "µs", f"{name}_{key}", Target(20))
            for name in INTERFACES
            for key, text in (
                ("cost", "a step of one environment on top of the core, at 60 steps a second"),
                ("hot", "the same, step after step"),
            )
        ),
        Line("envpool: from the last frame of a batch to the end of recv, p50", "ms", "wake_p50", Target(0.3)),
        Line("envpool: from the last frame of a batch to the end of recv, p99", "ms", "wake_p99"),
        Line(
            f"envpool: {MANY} replayed remotes at 60 fps, batches of {BATCH}, frames kept",
            "%",
            "kept",
            Target(100.5, 99.5),
        ),
        Line(f"CPU of the process with {MANY} remotes", "% of a core", "cpu"),
    ),
    run,
)
