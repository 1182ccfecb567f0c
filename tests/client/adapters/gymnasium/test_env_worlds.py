"""Environments that go on beside the one that they were forked of, and moments that have a name."""

import asyncio
import contextlib
import gc
import os
import random
import weakref
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import psutil
import pytest
from pluriverse.adapters.gymnasium import PluriverseEnv
from pluriverse.adapters.snapshots import Snapshot
from pluriverse.errors import ConfigurationError, RemoteFailed
from support.chromium import Chromium
from support.remotes import in_container, on_machine
from support.waiting import eventually

pytestmark = [pytest.mark.display, pytest.mark.timeout(240)]


# How many values of the picture are far from what they were when this was defined.
DIFFERS = """
const seen = () => {
  const probe = new OffscreenCanvas(640, 480).getContext("2d", { willReadFrequently: true });
  probe.drawImage(document.querySelector(".surface:not([data-gone]) canvas"), 0, 0);
  return probe.getImageData(0, 0, 640, 480).data;
};
window.first = seen();
window.differs = () => seen().filter((value, at) => Math.abs(value - first[at]) > 48).length;
undefined
"""


def made(address: str, env_id: str) -> PluriverseEnv:
    return PluriverseEnv(env_id, remotes=address, clock="lockstep", frame_skip=4, size=(60, 80))


def played(env: PluriverseEnv, actions: Sequence[int]) -> list[bytes]:
    return [env.step(action)[0].tobytes() for action in actions]


# One of each kind: an emulator that keeps its state, a program in a terminal, one with threads, and a page.
@pytest.mark.parametrize(
    "env_id", ["gym-core.PongDeterministic-v3", "desktop.Vitetris-v0", "desktop.LTris-v0", "internet.2048-v0"]
)
def test_forks_and_restores_go_on_as_the_environment_did(env_id: str) -> None:
    chance = random.Random(env_id)
    with on_machine(runtime=env_id.partition(".")[0]) as remote, made(remote.address, env_id) as env:
        env.reset(seed=3)
        n = int(env.action_space.n)  # type: ignore[attr-defined]
        actions = [chance.randrange(n) for _ in range(10)]
        played(env, actions)
        moment = env.snapshot()
        forked = env.fork(3) if env_id != "internet.2048-v0" else None
        first = played(env, actions)
        assert len(set(first)) > 1
        env.restore(moment)
        assert played(env, actions) == first
        if forked is None:
            return
        for action, expected in zip(actions, first, strict=True):
            observations, *_ = forked.step(np.full(3, action))
            assert [each.tobytes() for each in observations] == [expected] * 3
        forked.close()
        closed = weakref.ref(forked.core)
        del forked
        gc.collect()
        assert closed() is None
        again = env.fork(1)
        assert env.core.env.n == again.core.env.n == 1


@pytest.mark.browser
async def test_viewer_shows_the_world_that_is_chosen_there(tmp_path: Path) -> None:
    with on_machine(runtime="desktop") as remote, contextlib.ExitStack() as stack:
        env = made(remote.address, "desktop.KoboDeluxe-v0")
        stack.callback(env.close)
        await asyncio.to_thread(env.reset, seed=3)
        forked = await asyncio.to_thread(env.fork, 1)
        stack.callback(forked.close)
        for _ in range(20):
            await asyncio.to_thread(forked.step, [3])
        chromium = await Chromium.start(tmp_path)
        try:
            address = f"http://127.0.0.1:{remote.port}/viewer/?password={remote.password}&control=1"
            await chromium.open(address)
            await chromium.wait_until("document.getElementById('link').innerText === 'in control'")
            await chromium.wait_until("document.getElementById('world').length === 2")
            await chromium.evaluate(DIFFERS)
            for world, differs in ((1, "> 1000"), (0, "< 100")):
                await chromium.evaluate(
                    f"(() => {{ const select = document.getElementById('world'); select.value = '{world}';"
                    " select.dispatchEvent(new Event('change')); })()"
                )
                await chromium.wait_until(f"document.getElementById('world').selectedIndex === {world}")
                await chromium.wait_until(f"differs() {differs}")
            forked.close()
            await chromium.wait_until("!document.getElementById('world').checkVisibility()")
        finally:
            await chromium.close()


def test_snapshot_with_a_name_is_there_for_another_environment_until_it_is_released(address: str) -> None:
    with contextlib.closing(made(address, "gym-core.PongDeterministic-v3")) as env:
        env.reset(seed=3)
        env.step(2)
        env.snapshot("first step")
        first = played(env, [2, 3, 2])
        with pytest.raises(ConfigurationError, match="name"):
            env.snapshot("")
    with made(address, "gym-core.PongDeterministic-v3") as other:
        other.reset(seed=4)
        other.restore("first step")
        assert played(other, [2, 3, 2]) == first
        other.release("first step")
        with pytest.raises(RemoteFailed, match="unknown snapshot 'first step'"):
            other.restore("first step")


async def test_nothing_is_left_of_a_daemon_that_is_killed_with_a_hundred_snapshots(tmp_path: Path) -> None:
    with on_machine(runtime="desktop", env={**os.environ, "TMPDIR": str(tmp_path)}) as remote:
        env = made(remote.address, "desktop.Vitetris-v0")
        env.reset(seed=3)
        moments = [env.snapshot() for _ in range(100)]
        assert all(moment.native for moment in moments)
        started = psutil.Process(remote.process.pid).children(recursive=True)
        assert len(started) > 200
        remote.process.kill()
        await eventually(lambda: not any(is_alive(each) for each in started))
        env.close()


def is_alive(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.status() != psutil.STATUS_ZOMBIE
    return False


# After an episode's last picture.
OVER = -1

GAMES = (
    *("ChromiumBsu", "FrozenBubble", "Gnome2048", "HexAHop", "KoboDeluxe"),
    *("LTris", "MoonBuggy", "Powermanga", "SlimeVolley", "Vitetris"),
)
# Debian 13, of which images are, has another LTris.
IN_CONTAINERS = [
    pytest.param(game, "container", marks=pytest.mark.container("desktop")) for game in GAMES if game != "LTris"
]
# Docker's profile lets no program have the same addresses each time.
FROZEN_IN_CONTAINERS = ("FrozenBubble", "HexAHop")

# A remote keeps 1 GiB of them, which a hundred take of those that draw with OpenGL.
MOMENTS = 50


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("game", "where"), [*((game, "machine") for game in GAMES), *IN_CONTAINERS])
def test_a_hundred_moments_come_back_in_any_order_and_so_do_forks_of_forks(game: str, where: str) -> None:
    chance = random.Random(game)
    with contextlib.ExitStack() as stack:
        env_id, there = f"desktop.{game}-v0", "local:1"
        if where == "container":
            there = stack.enter_context(in_container(env_id, runtime="desktop")).address
        env = PluriverseEnv(env_id, remotes=there, clock="lockstep", frame_skip=4)
        stack.callback(env.close)
        if where == "container" and game in FROZEN_IN_CONTAINERS:
            env.reset(seed=3)
            with pytest.raises(ConfigurationError, match="isn't exact in lockstep here"):
                env.snapshot()
            return
        n = int(env.action_space.n)  # type: ignore[attr-defined]
        moments: list[tuple[Snapshot, list[int], list[int]]] = []
        refused: list[str] = []
        for _ in range(2):
            moments.clear()
            env.reset(seed=3)
            while len(moments) < MOMENTS:
                moment, actions = env.snapshot(), [chance.randrange(n) for _ in range(75)]
                if not moment.native:
                    # Then it is played again, which takes its time.
                    refused.append(str(env.step(0)[4]["snapshot"]))
                    env.restore(moment)
                moments.append((moment, actions, until_over(env, actions)))
                env.restore(moment)
                if until_over(env, [chance.randrange(n) for _ in range(chance.randrange(5, 15))])[-1] == OVER:
                    env.reset(seed=3)
            chance.shuffle(moments)
            for moment, actions, expected in moments:
                env.restore(moment)
                assert until_over(env, actions) == expected
        assert len(refused) < 5, refused
        # A fork, and of one of its environments another.
        moment, actions, expected = max(moments, key=lambda each: len(each[2]))
        expected = [picture for picture in expected if picture != OVER]
        env.restore(moment)
        forked = env.fork(2)
        half = len(expected) // 2
        for action in actions[:half]:
            forked.step(np.full(2, action))
        again = env.fork(2)
        again.restore([forked.snapshot()[1]] * 2)
        for action, picture in zip(actions[half : len(expected)], expected[half:], strict=True):
            assert [zlib.crc32(each.data) for each in again.step(np.full(2, action))[0]] == [picture] * 2


def until_over(env: PluriverseEnv, actions: Sequence[int]) -> list[int]:
    seen: list[int] = []
    for action in actions:
        picture, _, terminated, truncated, _ = env.step(action)
        seen.append(zlib.crc32(picture.data))
        if terminated or truncated:
            return [*seen, OVER]
    return seen
