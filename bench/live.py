"""The client on live remotes: keys to pixels, rewards, lags by the environment's own diagnostics, lockstep."""

from __future__ import annotations

import asyncio
import random
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import pluriverse
from desktops import ours, program_on
from latency import KEY, PAUSE_S, PIXEL, WARM_UP
from peers import asyncvnc, peer
from pluriverse.env.base import Env
from pluriverse.rewarder.result import PREFIX
from pluriverse.vnc import VncConnection, connect, wait_for_frames
from pluriverse.wrappers import GymCoreAction, GymCoreSync, Throttle
from pluriverse_protocol.events import KeyEvent
from report import Effort, Figures, Line, Measurement, Target, percentile
from support.remotes import on_machine

# Boxers earn something several times a second, whatever they do.
GAME: Final = "gym-core.BoxingNoFrameskip-v3"
SYNC_GAME: Final = "gym-core.PongSync-v3"

# A press that isn't seen by now was lost.
LOST_S: Final = 5.0

# White and black after JPEG.
BRIGHT: Final = 200
DARK: Final = 55

# Clocks are compared and the first episode begins.
WARM_UP_S: Final = 2.0

# An agent that waits for news looks around this often at least.
LOOK_S: Final = 0.1

FRAMES_A_DECISION: Final = 4
NS_PER_MS: Final = 1e6
SERVER: Final = "127.0.0.1"

# Universe's client, as it was measured once, on a machine like the one that the README's figures are of.
UNIVERSE: Final = {"universe_observation": 17.9, "universe_reward": 11.5, "universe_sync": 18.0}


def run(effort: Effort) -> Figures:
    """Milliseconds and steps a second."""
    seconds = effort.of(20, 8)
    return {**_presses(effort.of(200, 60)), **_lags(seconds), **_lockstep(effort.of(10, 4)), **UNIVERSE}


def _presses(count: int) -> Figures:
    """A key's way to changed pixels; each client has a screen of its own, one after the other."""
    ways: dict[str, Callable[[int], Sequence[float]]] = {
        "press": lambda port: _press_ours(port, count),
        "asyncvnc": lambda port: asyncio.run(_press_asyncvnc(port, count)),
        "libvnc": lambda port: _press_libvnc(port, count),
    }
    figures: Figures = {}
    for name, press in ways.items():
        with ours("xvfb") as screen, program_on(screen, "painter.py", "keys"):
            latencies_ms = press(screen.vnc_port)[WARM_UP:]
        if latencies_ms:
            figures |= {f"{name}_p50": percentile(latencies_ms, 50), f"{name}_p99": percentile(latencies_ms, 99)}
    return figures


def _press_ours(port: int, count: int) -> list[float]:
    screen = connect(SERVER, port)
    latencies_ms: list[float] = []
    try:
        for index in range(WARM_UP + count):
            time.sleep(random.uniform(*PAUSE_S))
            began = time.perf_counter()
            screen.send_events([KeyEvent(KEY, True)])
            while not _shows(screen, bright=index % 2 == 0):
                assert time.perf_counter() - began < LOST_S, "a key press was not answered"
                wait_for_frames([screen], LOOK_S)
            latencies_ms.append(1000 * (time.perf_counter() - began))
            screen.send_events([KeyEvent(KEY, False)])
    finally:
        screen.close()
    return latencies_ms


def _shows(screen: VncConnection, *, bright: bool) -> bool:
    frame = screen.frame()
    if frame is None:
        return False
    pixel = frame.array[PIXEL[1], PIXEL[0]]
    return bool(pixel.min() > BRIGHT if bright else pixel.max() < DARK)


async def _press_asyncvnc(port: int, count: int) -> list[float]:
    latencies_ms: list[float] = []
    module = asyncvnc()
    if module is None:
        return latencies_ms
    async with module.connect(SERVER, port) as client:
        client.video.refresh()
        await client.read()
        client.video.refresh()
        reading = asyncio.ensure_future(client.read())
        for index in range(WARM_UP + count):
            await asyncio.sleep(random.uniform(*PAUSE_S))
            level = 0 if index % 2 else 255
            began = time.perf_counter()
            client.keyboard.press(chr(KEY))
            while client.video.data[PIXEL[1], PIXEL[0], 0] != level:
                async with asyncio.timeout(LOST_S):
                    await reading
                client.video.refresh()
                reading = asyncio.ensure_future(client.read())
            latencies_ms.append(1000 * (time.perf_counter() - began))
        reading.cancel()
    return latencies_ms


def _press_libvnc(port: int, count: int) -> list[float]:
    program = peer("libvnc")
    if program is None:
        return []
    command = [program, "press", str(port), str(WARM_UP + count)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [int(line) / NS_PER_MS for line in printed.split()]


def _lags(seconds: float) -> Figures:
    """One remote: for an agent that takes sixty steps a second, then for one that steps whenever there is news."""
    with on_machine("--env", GAME) as remote:
        address = f"vnc://{SERVER}:{remote.vnc_port}+{remote.port}?password={remote.password}"
        with pluriverse.make(GAME, remotes=address) as env:
            paced = GymCoreAction(Throttle(env), GAME)
            paced.reset()
            began = time.monotonic()
            while time.monotonic() - began < WARM_UP_S:
                paced.step([[]])
            return {**_paced(paced, seconds), **_eager(env, GymCoreAction(env, GAME), seconds)}


def _paced(env: GymCoreAction, seconds: float) -> Figures:
    """Lags as the environment tells them, the middle of their bounds; and how old a picture is when it is handed out.

    Throttle takes pictures in as they come, which is when the environment dates them, and hands out the last when the
    frame is due.
    """
    lags: dict[str, list[float]] = {"observation": [], "reward": [], "action": []}
    ages_ms: list[float] = []
    steps = frames = 0
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        info = env.step([_action(env, steps)])[3]["n"][0]
        if "diagnostics.image_remote_time" in info:
            ages_ms.append(1000 * (time.time() - info["diagnostics.image_remote_time"]))
        steps += 1
        frames += info["stats.vnc.updates.n"]
        for name, lags_ms in lags.items():
            if f"{PREFIX}lag.{name}" in info:
                lags_ms.append(1000 * sum(info[f"{PREFIX}lag.{name}"]) / 2)
    assert all(lags.values()), f"no lag was measured of {[name for name, lags_ms in lags.items() if not lags_ms]}"
    figures = {f"{name}_p{at}": percentile(lags_ms, at) for name, lags_ms in lags.items() for at in (50, 99)}
    return {**figures, "age_p50": percentile(ages_ms, 50), "frames": frames / (time.monotonic() - began)}


def _eager(env: Env, player: GymCoreAction, seconds: float) -> Figures:
    """From when the remote sent a reward, on its clock, which is this machine's, until ``step`` has handed it out."""
    in_hand_ms: list[float] = []
    steps = 0
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        env.wait(LOOK_S)
        info: dict[str, Any] = player.step([_action(player, steps)])[3]["n"][0]
        now = time.time()
        steps += 1
        if info["stats.reward.count"]:
            in_hand_ms.append(1000 * (now - info["reward_buffer.remote_time"]))
    return {"in_hand_p50": percentile(in_hand_ms, 50), "in_hand_p99": percentile(in_hand_ms, 99)}


def _action(env: GymCoreAction, step: int) -> Any:
    return [] if step % FRAMES_A_DECISION else env.action_space.sample()


def _lockstep(seconds: float) -> Figures:
    with on_machine("--env", SYNC_GAME) as remote:
        address = f"vnc://{SERVER}:{remote.vnc_port}+{remote.port}?password={remote.password}"
        with pluriverse.make(SYNC_GAME, remotes=address) as env:
            player = GymCoreAction(GymCoreSync(env))
            player.reset()
            steps_ms: list[float] = []
            began = last = time.monotonic()
            while last - began < seconds:
                player.step([player.action_space.sample()])
                steps_ms.append(1000 * (time.monotonic() - last))
                last = time.monotonic()
    return {"sync": len(steps_ms) / (last - began), "sync_p50": percentile(steps_ms, 50)}


ELSEWHERE: Final = "Universe's client, measured elsewhere"


MEASUREMENT: Final = Measurement(
    "live",
    (
        Line("key press → pixels in the array, p50", "ms", "press_p50", Target(7), "libvnc_p50", "libvncclient"),
        Line("key press → pixels in the array, p99", "ms", "press_p99", None, "libvnc_p99", "libvncclient"),
        Line("the same beside another peer, p50", "ms", "press_p50", None, "asyncvnc_p50", "asyncvnc"),
        Line("reward in hand after the remote sent it, p50", "ms", "in_hand_p50", Target(3)),
        Line("reward in hand after the remote sent it, p99", "ms", "in_hand_p99"),
        Line("Atari at 60 fps, frames seen", "fps", "frames"),
        Line("observation lag, p50", "ms", "observation_p50", Target(12), "universe_observation", ELSEWHERE),
        Line("observation lag, p99", "ms", "observation_p99"),
        Line("age of the picture that a step at 60 fps returns, p50", "ms", "age_p50"),
        Line("reward lag, p50", "ms", "reward_p50", Target(5), "universe_reward", ELSEWHERE),
        Line("reward lag, p99", "ms", "reward_p99"),
        Line("action lag, p50", "ms", "action_p50"),
        Line("GymCoreSync on one remote", "steps/s", "sync", Target(low=120), "universe_sync", ELSEWHERE),
        Line("a step of it, p50", "ms", "sync_p50"),
    ),
    run,
)
