"""Programs that say nothing: from a pixel to its reward, what reading costs, resets with a spare beside a restart."""

from __future__ import annotations

import asyncio
import bisect
import re
import shutil
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Final

from report import Effort, Figures, Line, Measurement, Target, percentile
from reset import reset_once
from support.agent import Agent, connected
from support.remotes import ROOT, MachineRemote, on_machine

COUNTING: Final = "counting.Counting-v0"

# A game that is started anew for each episode and takes over a second for it; and one with several sources.
SLOW_GAME: Final = "desktop.KoboDeluxe-v0"
READ_GAME: Final = "desktop.SlimeVolley-v0"

# The next program is started gently beside the one that is played.
SPARE_S: Final = 10.0


def run(effort: Effort) -> Figures:
    """Milliseconds."""
    delays = asyncio.run(_count(effort.of(200, 50)))
    spared = asyncio.run(_reset("desktop", effort.of(12, 4), SPARE_S))
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "desktop"
        shutil.copytree(ROOT / "runtimes/desktop", plain, ignore=shutil.ignore_patterns("recordings"))
        for game in (plain / "games").glob("*.toml"):
            game.write_text(re.sub(r"(?m)^spares = .*\n", "", game.read_text()))
        restarted = asyncio.run(_reset(str(plain), effort.of(12, 4), 0))
    return {
        "delay_p50": percentile(delays, 50),
        "delay_p90": percentile(delays, 90),
        "cycle": asyncio.run(_read(effort.of(20, 6))),
        "spare_p50": percentile(spared, 50),
        "restart_p50": percentile(restarted, 50),
    }


async def _count(times: int) -> list[float]:
    """Milliseconds from a number that is on the screen until an agent has its reward."""
    drawn: list[float] = []
    rewarded: list[float] = []
    with on_machine(runtime="../bench/counting") as remote:
        async with connected(remote.port, remote.password) as agent:
            await agent.hear_method("v0.env.describe", env_state="running")
            while len(rewarded) <= times:
                message = await agent.hear()
                if message["method"] == "v0.env.reward" and message["body"]["reward"]:
                    rewarded.append(time.time())
                elif message["method"] == "v0.env.observation":
                    drawn.append(message["body"]["observation"]["drawn"])
    # What was drawn last before a reward came is what earned it. The first may be from before the agent was there.
    return [1000 * (at - drawn[place - 1]) for at in rewarded[1:] if (place := bisect.bisect(drawn, at)) > 0]


async def _reset(runtime: str, times: int, pause_s: float) -> list[float]:
    with on_machine("--env", SLOW_GAME, runtime=runtime) as remote:
        async with connected(remote.port, remote.password) as agent:
            await agent.hear_method("v0.env.describe", env_state="running")
            return [await _reset_after(agent, pause_s) for _ in range(times)]


async def _reset_after(agent: Agent, pause_s: float) -> float:
    await asyncio.sleep(pause_s)
    return await reset_once(agent, SLOW_GAME)


async def _read(seconds: int) -> float:
    """Milliseconds that all sources of a game take in a frame, on average."""
    with on_machine("--env", READ_GAME, runtime="desktop") as remote:
        async with connected(remote.port, remote.password, observer=True) as agent:
            await agent.hear_method("v0.env.describe", env_state="running")
            before = _cycles(remote)
            await asyncio.sleep(seconds)
            spent, cycles = (now - then for now, then in zip(_cycles(remote), before, strict=True))
    return 1000 * spent / cycles


def _cycles(remote: MachineRemote) -> tuple[float, float]:
    """Seconds that all cycles took, and how many there were."""
    with urllib.request.urlopen(f"http://127.0.0.1:{remote.port}/metrics", timeout=5) as answer:
        text = answer.read().decode()
    found = [re.search(rf"(?m)^pluriverse_source_cycle_seconds_{what} (\S+)", text) for what in ("sum", "count")]
    return tuple(float(match[1]) if match else 0.0 for match in found)  # pyright: ignore[reportReturnType]


MEASUREMENT: Final = Measurement(
    "scraped",
    (
        Line("a number on the screen → its reward at the agent, p50", "ms", "delay_p50", Target(20)),
        Line("a number on the screen → its reward at the agent, p90", "ms", "delay_p90"),
        Line("all sources of a shipped game, a frame", "ms", "cycle", Target(1.5)),
        Line("reset with a warm spare, p50", "ms", "spare_p50", Target(60), "restart_p50", "started anew"),
    ),
    run,
)
