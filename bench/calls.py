"""Counts what a step passes: Python's calls into our modules, in the thread that steps, over a real remote."""

from __future__ import annotations

import statistics
import sys
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Final

import gymnasium
import pluriverse
from pluriverse.adapters.gymnasium import PluriverseEnv
from pluriverse.env.slot import Slot
from remote import PONG
from report import Effort, Figures, Line, Measurement, Target
from support.remotes import on_machine

OURS: Final = ("pluriverse", "pluriverse_protocol")

# Episodes begin, clocks are compared, and what is made at the first step is made.
WARM_UP: Final = 120
RESETS: Final = 9
LEFT: Final = ("KeyEvent", "ArrowLeft")


@dataclass
class Calls:
    """The calls of each of some turns, by the module and the name of what was called."""

    turns: list[Counter[tuple[str, str]]] = field(default_factory=list[Counter[tuple[str, str]]])

    @contextmanager
    def turn(self) -> Generator[None]:
        """Count the calls of this thread, and no other's, until the end of the context."""
        called: Counter[tuple[str, str]] = Counter()

        def note(frame: FrameType, event: str, _: object) -> None:
            module: str = frame.f_globals.get("__name__", "")
            if event == "call" and module.partition(".")[0] in OURS:
                called[module, frame.f_code.co_qualname] += 1

        sys.setprofile(note)
        try:
            yield
        finally:
            sys.setprofile(None)
        self.turns.append(called)

    @property
    def calls(self) -> float:
        """The median of the turns."""
        return statistics.median(each.total() for each in self.turns)

    @property
    def modules(self) -> float:
        """The median of the turns."""
        return statistics.median(len({module for module, _ in each}) for each in self.turns)

    def per_turn(self, function: Callable[..., Any]) -> float:
        """Return how often a function is called in a turn, on an average."""
        name = function.__module__, function.__qualname__
        return statistics.fmean(each[name] for each in self.turns)


def run(effort: Effort) -> Figures:
    """Calls and modules of one step and of one reset, and looks of a slot for each frame that was handed out."""
    count = effort.of(600, 200)
    figures: Figures = {}
    with on_machine("--env", PONG) as remote:
        for clock in ("realtime", "lockstep"):
            with gymnasium_env(remote.address, clock) as env:
                steps, resets = _played(env, count)
            figures |= {f"{clock}_calls": steps.calls, f"{clock}_modules": steps.modules}
            figures |= {f"{clock}_reset_calls": resets.calls}
            if clock == "realtime":
                figures["looks"] = steps.per_turn(Slot.poll)
        universe = _universe(remote.address, count)
        figures |= {"universe_calls": universe.calls, "universe_modules": universe.modules}
    return figures


@contextmanager
def gymnasium_env(remotes: str, clock: str) -> Generator[PluriverseEnv]:
    """An environment as users make it, without the wrappers of ``gymnasium.make``."""
    env = PluriverseEnv(PONG, remotes=remotes, clock=clock)
    try:
        yield env
    finally:
        env.close()


def _played(env: gymnasium.Env[Any, Any], count: int) -> tuple[Calls, Calls]:
    """Return the calls of ``count`` steps, each with another action than the one before, and of some resets."""
    steps, resets = Calls(), Calls()
    env.reset()
    for number in range(WARM_UP + count):
        if number < WARM_UP:
            over = any(env.step(number % 6)[2:4])
        else:
            with steps.turn():
                _, _, terminated, truncated, _ = env.step(number % 6)
            over = terminated or truncated
        if over:
            env.reset()
    for _ in range(RESETS):
        with resets.turn():
            env.reset()
        env.step(0)
    return steps, resets


def _universe(remotes: str, count: int) -> Calls:
    """Return the calls of steps with one key, each after something new has come."""
    steps = Calls()
    with pluriverse.make(PONG, remotes) as env:
        env.reset()
        for number in range(WARM_UP + count):
            env.wait(1.0)
            action_n = [[(*LEFT, bool(number % 2))]]
            if number < WARM_UP:
                env.step(action_n)
                continue
            with steps.turn():
                env.step(action_n)
    return steps


MEASUREMENT: Final = Measurement(
    "calls",
    (
        Line("Gymnasium's step in real time: calls into our modules", "calls", "realtime_calls", Target(70)),
        Line("… in so many modules", "modules", "realtime_modules", Target(12)),
        Line("… looks of a slot for each frame", "looks", "looks", Target(1.05)),
        Line("Gymnasium's step in lockstep: calls into our modules", "calls", "lockstep_calls", Target(50)),
        Line("… in so many modules", "modules", "lockstep_modules", Target(10)),
        Line("Gymnasium's reset in real time: calls into our modules", "calls", "realtime_reset_calls", Target(300)),
        Line("Gymnasium's reset in lockstep: calls into our modules", "calls", "lockstep_reset_calls", Target(300)),
        Line("Universe's step, one key: calls into our modules", "calls", "universe_calls"),
        Line("… in so many modules", "modules", "universe_modules"),
    ),
    run,
)
