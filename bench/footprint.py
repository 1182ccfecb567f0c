"""Measures a remote that plays Pong at 60 fps with one agent: CPU by part, memory, remotes a core."""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractContextManager, AsyncExitStack
from typing import Final

from processes import DAEMON, PROGRAM, cpu_seconds, pss_mib, rss_mib, shares
from remote import Playing, hear_all, our_pong, plain_pong, playing_agent
from report import Effort, Figures, Line, Measurement, Target
from support.agent import Agent
from viewer import watching

# What start-up costs is over by then.
SETTLE_S: Final = 2.0

# As agents ping to measure the clock's offset.
PING_INTERVAL_S: Final = 1.0


def run(effort: Effort) -> Figures:
    """Per cent of a core, and MiB."""
    seconds = effort.of(20, 8)
    return {**_watch("ours", our_pong(), seconds), **_watch("plain", plain_pong(), seconds)}


def _watch(name: str, pong: AbstractContextManager[Playing], seconds: int) -> Figures:
    with pong as playing, watching(playing.vnc_port, playing.password):
        cpu = asyncio.run(_spend(playing, seconds))
        pss, rss = pss_mib(playing.parts), rss_mib(playing.parts)
    whole = sum(cpu.values())
    figures = {"cpu": whole, "per_core": 100 / whole, "pss": sum(pss.values()), "rss": sum(rss.values())}
    figures.update({f"cpu_{part}": share for part, share in cpu.items()})
    figures.update({f"pss_{part}": size for part, size in pss.items()})
    return {f"{name}_{key}": value for key, value in figures.items()}


async def _spend(playing: Playing, seconds: int) -> dict[str, float]:
    """Per cent of a core that each part takes, with the agent connected where there is anything to connect to."""
    async with AsyncExitStack() as stack:
        if playing.rewarder_port is not None:
            agent = await stack.enter_async_context(playing_agent(playing))
            report_listener = asyncio.create_task(hear_all(agent))
            stack.callback(report_listener.cancel)
            pinging = asyncio.create_task(_ping(agent))
            stack.callback(pinging.cancel)
        await asyncio.sleep(SETTLE_S)
        before, began = cpu_seconds(playing.parts), time.monotonic()
        await asyncio.sleep(seconds)
        return shares(before, cpu_seconds(playing.parts), time.monotonic() - began)


async def _ping(agent: Agent) -> None:
    while True:
        await agent.send("v0.control.ping", {})
        await asyncio.sleep(PING_INTERVAL_S)


CORE: Final = "% of a core"
PLAIN: Final = "Gymnasium in pygame on Xvfb and X0tigervnc"

MEASUREMENT: Final = Measurement(
    "footprint",
    (
        Line("the whole remote at Pong, 60 fps", CORE, "ours_cpu", Target(25), "plain_cpu", PLAIN),
        Line("of that the daemon", CORE, f"ours_cpu_{DAEMON}", Target(5)),
        Line("of that the program", CORE, f"ours_cpu_{PROGRAM}", None, f"plain_cpu_{PROGRAM}", "Gymnasium in pygame"),
        Line("of that Xvfb", CORE, "ours_cpu_Xvfb", None, "plain_cpu_Xvfb", "the same"),
        Line("of that X0tigervnc", CORE, "ours_cpu_X0tigervnc", None, "plain_cpu_X0tigervnc", "the same, as it comes"),
        Line("remotes on a core", "", "ours_per_core", None, "plain_per_core", PLAIN),
        Line("its memory (PSS)", "MiB", "ours_pss", Target(200), "plain_pss", PLAIN),
        Line("of that the daemon", "MiB", f"ours_pss_{DAEMON}"),
        Line("of that the program", "MiB", f"ours_pss_{PROGRAM}", None, f"plain_pss_{PROGRAM}", "Gymnasium in pygame"),
        Line("its memory (RSS)", "MiB", "ours_rss", None, "plain_rss", PLAIN),
    ),
    run,
)
