"""An agent with random actions, and its report."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from .env.base import Env
from .wrappers import SafeActionSpace, Throttle
from .wrappers.meter import Meter

# A line a second can be read; remotes report their statistics as often.
REPORT_S: Final = 1.0


def play_randomly(env: Env, *, seconds: float | None, fps: float | None, report: Callable[[str], None]) -> None:
    """Play with random actions for ``seconds``, or until interrupted; report each second, and at last the whole."""
    agent = Throttle(SafeActionSpace(env), fps)
    observation_n = agent.reset()
    began = now = time.monotonic()
    total, recent = Meter(env.n, now), Meter(env.n, now)
    due = now + REPORT_S
    try:
        while seconds is None or now - began < seconds:
            action_n: list[Any] = [[] if seen is None else agent.action_space.sample() for seen in observation_n]
            observation_n, reward_n, done_n, info = agent.step(action_n)
            for meter in (total, recent):
                meter.note(reward_n, done_n, info["n"])
            for index, info_i in enumerate(info["n"]):
                if "error" in info_i:
                    report(f"remote {index}: {info_i['error']}")
            now = time.monotonic()
            if now >= due:
                report(recent.line(now))
                recent, due = Meter(env.n, now), now + REPORT_S
    except KeyboardInterrupt:
        now = time.monotonic()
    report(f"in all {now - began:.0f} s: {total.line(now)}")
