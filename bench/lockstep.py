"""Steps a second in lockstep, beside the same game in the agent's own process, EnvPool and Gymnasium's vectors."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, Final

import ale_py
import envpool as envpool_itself
import gymnasium
import numpy as np
import psutil
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation
from pluriverse.adapters import envpool
from pluriverse.adapters.gymnasium import PluriverseEnv
from report import Effort, Figures, Line, Measurement, Target

PONG: Final = "gym-core.PongNoFrameskip-v3"
MANY: Final = 16
PROCESSES: Final = 8
SKIP: Final = 4
SIZE: Final = 84
STEPS: Final = 20
PERCENT: Final = 100
SETTLE_S: Final = 3.0


def run(effort: Effort) -> Figures:
    """Steps a second of what is compared, in turns; per cent of a core while the agent thinks."""
    rounds = effort.of(12, 4)
    gymnasium.register_envs(ale_py)
    with ExitStack() as stack:
        one = {name: stack.enter_context(make()) for name, make in ONE.items()}
        figures = _turns(one, rounds, 10 * STEPS)
        figures |= _still(one["one"], effort.of(60, 10))
    with ExitStack() as stack:
        many = {name: stack.enter_context(make()) for name, make in VECTORS.items()}
        steps = {name: step for name, (step, _) in many.items()}
        of_all = _turns(steps, rounds, STEPS)
        figures |= {name: rate * many[name][1] for name, rate in of_all.items()}
    return figures


def _turns(steps: Mapping[str, Callable[[], Any]], rounds: int, count: int) -> Figures:
    rates: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            began = time.perf_counter()
            for _ in range(count):
                step()
            rates[name].append(count / (time.perf_counter() - began))
    return {name: float(np.median(each)) for name, each in rates.items()}


def _still(step: Callable[[], Any], seconds: float) -> Figures:
    """Per cent of a core that the program, and the whole remote, take while nobody steps it."""
    step()
    # What was shown last is drawn a moment later, and what a start leaves to do is done.
    time.sleep(SETTLE_S)
    before = {process: _cpu(process) for process in psutil.Process().children(recursive=True) if _is_ours(process)}
    time.sleep(seconds)
    spent = {process: _cpu(process) - cpu for process, cpu in before.items() if process.is_running()}
    program = sum(cpu for process, cpu in spent.items() if "main.py" in process.cmdline())
    return {"still": PERCENT * program / seconds, "still_remote": PERCENT * sum(spent.values()) / seconds}


def _is_ours(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


@contextmanager
def _one() -> Generator[Callable[[], Any]]:
    env = PluriverseEnv(PONG, remotes="local:1", clock="lockstep")
    try:
        yield _stepping(env, env.action_space.n)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
    finally:
        env.close()


@contextmanager
def _one_itself() -> Generator[Callable[[], Any]]:
    env = gymnasium.make("PongNoFrameskip-v4")
    try:
        yield _stepping(env, 6)
    finally:
        env.close()


def _stepping(env: gymnasium.Env[Any, Any], n: int) -> Callable[[], None]:
    env.reset(seed=0)
    actions = np.random.default_rng(0)

    def step() -> None:
        _, _, terminated, truncated, _ = env.step(int(actions.integers(n)))
        if terminated or truncated:
            env.reset()

    return step


Vector = tuple[Callable[[], Any], int]


@contextmanager
def _pool(module: Any, **options: Any) -> Generator[Vector]:
    pool = module.make_gymnasium("Pong-v5", num_envs=MANY, seed=0, **options)
    try:
        pool.reset()
        actions = np.zeros(MANY, np.int32)
        yield lambda: pool.step(actions), MANY
    finally:
        pool.close()


@contextmanager
def _processes() -> Generator[Vector]:
    vector = gymnasium.vector.AsyncVectorEnv([_preprocessed] * PROCESSES)
    try:
        vector.reset(seed=0)
        actions = np.zeros(PROCESSES, np.int64)
        yield lambda: vector.step(actions), PROCESSES
    finally:
        vector.close()


def _preprocessed() -> gymnasium.Env[Any, Any]:
    gymnasium.register_envs(ale_py)
    env = gymnasium.make("PongNoFrameskip-v4")
    return FrameStackObservation(AtariPreprocessing(env, frame_skip=SKIP, screen_size=SIZE), SKIP)


ONE: Final = {"one": _one, "one_itself": _one_itself}
VECTORS: Final[Mapping[str, Callable[[], Any]]] = {
    "many": partial(_pool, envpool, remotes=f"local:{MANY}", clock="lockstep"),
    "many_envpool": partial(_pool, envpool_itself),
    "many_processes": _processes,
}

MEASUREMENT: Final = Measurement(
    "lockstep",
    (
        Line(
            "Pong, 210x160x3, one environment on this machine, a frame a step",
            "steps/s",
            "one",
            Target(low=3000),
            "one_itself",
            "Gymnasium in its own process",
        ),
        Line(
            f"Pong x{MANY}, 84x84 grey stacks, {SKIP} frames a step", "steps/s", "many", None, "many_envpool", "EnvPool"
        ),
        Line(
            f"the same beside AsyncVectorEnv x{PROCESSES}", "steps/s", "many", None, "many_processes", "AsyncVectorEnv"
        ),
        Line("standing still while the agent thinks: the program", "% of a core", "still", Target(0.1)),
        Line("the whole remote, with its daemon and servers", "% of a core", "still_remote"),
    ),
    run,
)
