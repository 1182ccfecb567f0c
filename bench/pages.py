"""Pages as environments, in real time and in lockstep: beside miniwob's own environment over Selenium."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, Final

import psutil
from pluriverse.adapters.core import Core
from pluriverse_protocol.events import KeyEvent, PointerEvent
from pluriverse_protocol.reports import Done, Reward
from processes import MIB
from report import Effort, Figures, Line, Measurement, Target, percentile
from reset import reset_once
from support.agent import Agent, connected
from support.remotes import ROOT, MachineRemote, on_machine
from support.stepped import Stepped, stepped

TASK: Final = "wob.mini.ClickTest-v0"
# Its page is loaded for each episode.
LOADED: Final = "wob.mini.ChaseCircle-v0"
ARCADE: Final = "internet.Meteors-v0"

LEFT: Final = 1
EPISODE_STEPS: Final = 8

# What starting the browser costs is over by then.
SETTLE_S: Final = 3.0


def run(effort: Effort) -> Figures:
    """Milliseconds, seconds, per cent of a core, MiB and frames a second, as the table's lines say."""
    figures: Figures = {}
    figures |= _play_world_of_bits(effort)
    figures |= asyncio.run(_hear_ticks(effort.of(100, 30)))
    figures |= _play_lockstep(effort)
    figures |= asyncio.run(_play_twice(every=effort.of(1, 16)))
    figures |= _play_arcade(effort.of(20, 6))
    figures |= _play_miniwob(effort.of(60, 15))
    return figures


def _play_world_of_bits(effort: Effort) -> Figures:
    starts: list[float] = []
    for _ in range(effort.of(3, 1)):
        began = time.perf_counter()
        with on_machine("--env", TASK, runtime="world-of-bits") as remote:
            asyncio.run(_hear_running(remote))
            starts.append(time.perf_counter() - began)
    with on_machine("--env", TASK, runtime="world-of-bits") as remote:
        resets = asyncio.run(_reset_often(remote, effort.of(60, 15)))
        time.sleep(SETTLE_S)
        cpu, pss = _cost(remote, effort.of(20, 8))
    steps = _step_core(effort.of(300, 60))
    return {
        "start": percentile(starts, 50),
        "reset_p50": percentile(resets, 50),
        "reset_p90": percentile(resets, 90),
        "idle_cpu": cpu,
        "pss": pss,
        "step": percentile(steps, 50),
    }


async def _hear_running(remote: MachineRemote) -> None:
    async with connected(remote.port, remote.password, observer=True) as agent:
        await agent.hear_method("v0.env.describe", env_state="running")


async def _reset_often(remote: MachineRemote, times: int) -> list[float]:
    async with connected(remote.port, remote.password) as agent:
        await agent.hear_method("v0.env.describe", env_state="running")
        return [await reset_once(agent, TASK) for _ in range(times)]


def _cost(remote: MachineRemote, seconds: int) -> tuple[float, float]:
    """Per cent of a core and MiB of all processes of a remote that waits for its agent."""
    root = psutil.Process(remote.process.pid)
    processes = [root, *root.children(recursive=True)]
    before, began = _cpu_seconds(processes), time.monotonic()
    time.sleep(seconds)
    cpu = 100 * (_cpu_seconds(processes) - before) / (time.monotonic() - began)
    return cpu, sum(process.memory_full_info().pss for process in processes) / MIB


def _cpu_seconds(processes: list[psutil.Process]) -> float:
    times = [process.cpu_times() for process in processes]
    return sum(spent.user + spent.system for spent in times)


def _step_core(times: int) -> list[float]:
    """Milliseconds from an action until the frame that follows it, which comes with the remote's next."""
    with Core(TASK, "local:1") as core:
        core.reset(0, 1)
        core.receive(1)
        return [_timed(lambda: _step(core)) for _ in range(times)]


def _step(core: Core) -> None:
    core.send({0: {"pointer": [5, 5]}})
    core.receive(1)
    if core.result(0).terminated or core.result(0).truncated:
        core.reset(0)
        core.receive(1)


def _play_lockstep(effort: Effort) -> Figures:
    """Milliseconds of resets; steps a second that move the pointer, which paints a frame, and that change nothing."""
    with Core(TASK, "local:1", clock="lockstep") as core:
        painted = _step_lockstep(core, effort.of(600, 100), moves=True)
        resets = _reset_lockstep(core, effort.of(60, 15))
        unchanged = _step_lockstep(core, effort.of(600, 100), moves=False)
    with Core(LOADED, "local:1", clock="lockstep") as core:
        loads = _reset_lockstep(core, effort.of(40, 10))
    return {
        "lockstep_painted": 1000 / percentile(painted, 50),
        "lockstep_unchanged": 1000 / percentile(unchanged, 50),
        "lockstep_reset_p50": percentile(resets, 50),
        "lockstep_reset_p90": percentile(resets, 90),
        "lockstep_load": percentile(loads, 50),
    }


def _reset_lockstep(core: Core, times: int) -> list[float]:
    def reset() -> None:
        core.reset(0)
        core.receive(1)

    reset()
    return [_timed(reset) for _ in range(times)]


def _step_lockstep(core: Core, times: int, *, moves: bool) -> list[float]:
    core.reset(0, 1)
    core.receive(1)
    taken: list[float] = []
    for number in range(times):
        action = {"pointer": [5 + 7 * number % 150, 55 + 11 * number % 150]} if moves else {}

        def step(action: dict[str, Any] = action) -> None:
            core.send({0: action})
            core.receive(1)

        taken.append(_timed(step))
        if core.result(0).terminated or core.result(0).truncated:
            core.reset(0)
            core.receive(1)
    return taken


async def _play_twice(every: int) -> Figures:
    """Per cent of the tasks whose pixels and rewards are the same in two episodes, with pointer, clicks and keys."""
    async with stepped(ROOT / "runtimes/world-of-bits") as played:
        ids = list(played.entries)[::every]
        same = [await _played(played, env_id) == await _played(played, env_id) for env_id in ids]
    return {"lockstep_same": 100 * sum(same) / len(same), "lockstep_ids": len(ids)}


async def _played(played: Stepped, env_id: str) -> list[object]:
    chance = random.Random(env_id)
    seen: list[object] = [(await played.play(env_id, 1)).tobytes()]
    for number in range(EPISODE_STEPS):
        x, y = chance.randrange(12, 168), chance.randrange(127, 283)
        press = [PointerEvent(x, y, LEFT), PointerEvent(x, y, 0)] if number % 2 else []
        keys = [KeyEvent(chance.choice(b"abc1"), down=down) for down in (True, False)] if number % 4 == 0 else []
        pixels = await played.step([PointerEvent(x, y, 0), *press, *keys])
        rewards = [(type(said), said.reward) for said in played.said if isinstance(said, Reward | Done)]
        seen += [pixels.tobytes(), rewards]
        if any(isinstance(said, Done) for said in played.said):
            break
    return seen


async def _hear_ticks(count: int) -> Figures:
    """Measure how long after a page changed its score an agent has the reward."""
    with on_machine(runtime="../bench/ticking") as remote:
        async with connected(remote.port, remote.password) as agent:
            await agent.reset("ticking.Ticking-v0")
            delays = [await _hear_tick(agent) for _ in range(count)]
    # The first comes with the page's beginning.
    return {"reward_p50": percentile(delays[1:], 50), "reward_p99": percentile(delays[1:], 99)}


async def _hear_tick(agent: Agent) -> float:
    reward_at = 0.0
    while True:
        message = await agent.hear()
        if message["method"] == "v0.env.reward" and message["body"]["reward"]:
            reward_at = time.time()
        if message["method"] == "v0.env.observation" and reward_at:
            return 1000 * (max(reward_at, time.time()) - message["body"]["observation"])


def _play_arcade(seconds: int) -> Figures:
    with Core(ARCADE, "local:1") as core:
        core.reset(0, 1)
        core.receive(1)
        lags: list[float] = []
        pictures: set[bytes] = set()
        began = time.monotonic()
        while (spent := time.monotonic() - began) < seconds:
            core.send({0: 0})
            core.receive(1)
            turn = core.result(0)
            lag = turn.info.get("stats.gauges.diagnostics.lag.observation")
            if lag is not None:
                lags.append(1000 * statistics.mean(lag))
            pictures.add(core.picture(0).tobytes())
            if turn.terminated or turn.truncated:
                core.reset(0, join=True)
                core.receive(1)
    return {"arcade_fps": len(pictures) / spent, "arcade_lag": percentile(lags, 50)}


def _play_miniwob(times: int) -> Figures:
    """The same task in miniwob's own environment: Selenium, chromedriver and a browser without a screen."""
    driver, browser = shutil.which("chromedriver"), shutil.which("chromium")
    if driver is None or browser is None:
        print("pages: miniwob's environment needs chromedriver: apt-get install chromium-driver", file=sys.stderr)
        return {}
    os.environ |= {"MINIWOB_CHROMEDRIVER": driver, "MINIWOB_CHROME_BINARY": browser}
    import gymnasium
    import miniwob  # pyright: ignore[reportMissingTypeStubs]

    gymnasium.register_envs(miniwob)
    began = time.perf_counter()
    env: Any = gymnasium.make("miniwob/click-test-v1")
    try:
        env.reset(seed=1)
        start = time.perf_counter() - began
        resets = [_timed(env.reset) for _ in range(times)]
        unwrapped = env.unwrapped
        wait = unwrapped.create_action("NONE")
        steps = [_timed(lambda: env.step(wait)) for _ in range(times)]
    finally:
        env.close()
    return {
        "selenium_start": start,
        "selenium_reset_p50": percentile(resets, 50),
        "selenium_reset_p90": percentile(resets, 90),
        "selenium_step": percentile(steps, 50),
        "selenium_steps": 1000 / percentile(steps, 50),
    }


def _timed(action: Callable[[], Any]) -> float:
    began = time.perf_counter()
    action()
    return 1000 * (time.perf_counter() - began)


SELENIUM: Final = "miniwob's environment over Selenium"

MEASUREMENT: Final = Measurement(
    "pages",
    (
        Line("world-of-bits: reset → running, p50", "ms", "reset_p50", Target(40), "selenium_reset_p50", SELENIUM),
        Line("world-of-bits: reset → running, p90", "ms", "reset_p90", None, "selenium_reset_p90", SELENIUM),
        Line("world-of-bits: step, which takes a frame, p50", "ms", "step", None, "selenium_step", SELENIUM),
        Line(
            "world-of-bits in lockstep: steps that move the pointer and paint",
            "steps/s",
            "lockstep_painted",
            Target(low=120),
            "selenium_steps",
            SELENIUM,
        ),
        Line(
            "world-of-bits in lockstep: steps in which nothing changes",
            "steps/s",
            "lockstep_unchanged",
            Target(low=400),
            "selenium_steps",
            SELENIUM,
        ),
        Line("… reset → first frame, p50", "ms", "lockstep_reset_p50", Target(15), "selenium_reset_p50", SELENIUM),
        Line("… reset → first frame, p90", "ms", "lockstep_reset_p90", None, "selenium_reset_p90", SELENIUM),
        Line("… reset of a page that is loaded anew, p50", "ms", "lockstep_load"),
        Line("… ids that are the same twice", "%", "lockstep_same", Target(low=100)),
        Line("… of so many", "ids", "lockstep_ids"),
        Line("world-of-bits: start → first task", "s", "start", Target(3), "selenium_start", SELENIUM),
        Line("a page's reward in hand after it was earned, p50", "ms", "reward_p50", Target(25)),
        Line("a page's reward in hand after it was earned, p99", "ms", "reward_p99"),
        Line("a remote that shows a page, idle", "% of a core", "idle_cpu", Target(5)),
        Line("a remote that shows a page, memory (PSS)", "MiB", "pss", Target(450)),
        Line("an arcade page: different pictures at the agent", "fps", "arcade_fps", Target(61, 57)),
        Line("an arcade page: observation lag, p50", "ms", "arcade_lag"),
    ),
    run,
)
