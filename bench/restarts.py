"""Kills what draws in the middle of an episode, resets, and measures until the next one's first observation."""

from __future__ import annotations

import contextlib
import time
from typing import Any, Final

import psutil
from outages import SPACING_S, Noted
from pluriverse.adapters.gymnasium import PluriverseEnv
from processes import DAEMON, PROGRAM
from report import Figures, percentile

GAMES: Final = {
    "gym-core": "gym-core.PongNoFrameskip-v3",
    "world-of-bits": "wob.mini.ClickTest-v0",
    "flashgames": "flashgames.Racer-v0",
}
LOCKSTEP: Final = ("gym-core", "world-of-bits")
PLAYED: Final = (*((game, "realtime") for game in GAMES), *((game, "lockstep") for game in LOCKSTEP))


def restarted(kills: int) -> Figures:
    """Seconds from each kill to the first observation of the episode that a reset at that moment has asked for."""
    figures: Figures = {}
    for game, clock in PLAYED:
        times = _kill(game, clock, kills)
        figures |= {f"{game}_{clock}_p50": percentile(times, 50), f"{game}_{clock}_max": max(times)}
    return figures


def _kill(game: str, clock: str, kills: int) -> list[float]:
    remotes = Noted(1, GAMES[game])
    times: list[float] = []
    with contextlib.closing(PluriverseEnv(GAMES[game], remotes=remotes, clock=clock)) as env:
        env.reset()
        for number in range(kills):
            _play(env, SPACING_S)
            victims = _victims(remotes)
            began = time.monotonic()
            victims[number % len(victims)].kill()
            env.reset()
            times.append(time.monotonic() - began)
    return times


def _play(env: PluriverseEnv, seconds: float) -> None:
    action_space: Any = env.action_space
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        _, _, terminated, truncated, _ = env.step(action_space.sample())
        if terminated or truncated:
            env.reset()


def _victims(remotes: Noted) -> list[psutil.Process]:
    """What draws: the program, or the browser and the process of its page."""
    parts = remotes.parts(0)
    lines = {process: process.cmdline() for process in parts[DAEMON].children(recursive=True)}
    chromium = {process: line for process, line in lines.items() if process.name() == "chromium"}
    if not chromium:
        return [parts[PROGRAM]]
    browser = next(process for process, line in chromium.items() if not any("--type=" in word for word in line))
    return [browser, [process for process, line in chromium.items() if "--type=renderer" in line][-1]]
