"""What agents rely on holds in every interface, and for games, pages, movies and other programs alike."""

import importlib
import math
import time
import urllib.request
from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

import pytest
from pluriverse.adapters.gymnasium import PluriverseEnv
from pluriverse_authoring.init import init
from support.remotes import ROOT, MachineRemote, find, on_machine

pytestmark = pytest.mark.browser

# What is played of each runtime, whose episodes last, and the frames a second that it is stepped at.
PLAYED = {
    "gym-core": ("gym-core.PongDeterministic-v3", 60),
    "world-of-bits": ("wob.mini.ClickTest-v0", 60),
    "flashgames": ("flashgames.Puzzle-v0", 30),
    "internet": ("internet.2048-v0", 60),
    "doom": ("doom.Basic-v0", 35),
    "desktop": ("desktop.MoonBuggy-v0", 60),
    "tasks": ("tasks.MousepadAppendLine-v0", 30),
    "tasks-web": ("tasks-web.ShopOrder-v0", 30),
}


# So far a rate may be off.
TOLERANCE = 0.01

LEAST_S = 3.0
DEADLINE_S = 60.0

# Every interface with one runtime, and every other runtime with one of the interfaces.
PAIRS = [
    ("gym-core", "gymnasium"),
    ("gym-core", "dm_env"),
    ("gym-core", "envpool"),
    ("gym-core", "alf"),
    ("world-of-bits", "gymnasium"),
    ("flashgames", "dm_env"),
    ("internet", "envpool"),
    ("doom", "alf"),
    ("desktop", "gymnasium"),
    ("tasks", "envpool"),
    ("tasks-web", "dm_env"),
]
DEAR = ("flashgames", "internet", "doom", "tasks", "tasks-web")


@pytest.fixture(scope="module")
def remote(request: pytest.FixtureRequest) -> Generator[tuple[str, MachineRemote]]:
    with on_machine(runtime=request.param) as remote:
        yield request.param, remote


def test_every_runtime_is_played_here() -> None:
    assert {runtime for runtime, _ in PAIRS} == {
        path.parent.name for path in (ROOT / "runtimes").glob("*/runtime.toml")
    }


# A dozen episodes of each, which programs that are started anew take their time for.
@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("remote", "interface"),
    [pytest.param(*pair, marks=pytest.mark.slow) if pair[0] in DEAR else pair for pair in PAIRS],
    indirect=["remote"],
)
def test_runtime_keeps_the_contract_of(interface: str, remote: tuple[str, MachineRemote]) -> None:
    runtime, served = remote
    env_id, _ = PLAYED[runtime]
    importlib.import_module(f"pluriverse.testing.{interface}").check(env_id, served.address)


def check_pace(env_id: str, remote: MachineRemote, rate: float, **options: Any) -> None:
    """Step for ``LEAST_S``, and until a second had no late frame, as on a loaded machine not each has; never faster.

    A program for which the machine has no time at all must have reported the frames that are missing.
    """
    second = round(rate)
    steps, elapsed, best = 0, 0.0, math.inf
    ended_at: list[float] = []
    deadline = time.monotonic() + DEADLINE_S
    late = late_frames(remote)
    with PluriverseEnv(env_id, remotes=remote.address, **options) as env:
        env.reset()
        while elapsed < LEAST_S or (best > second / rate * (1 + TOLERANCE) and time.monotonic() < deadline):
            _, _, terminated, truncated, _ = env.step(nothing(env.action_space.sample()))
            if terminated or truncated:
                env.reset()
                ended_at.clear()
            ended_at.append(time.monotonic())
            if len(ended_at) > 1:
                steps, elapsed = steps + 1, elapsed + ended_at[-1] - ended_at[-2]
            if len(ended_at) > second:
                best = min(best, ended_at[-1] - ended_at[-1 - second])
    late = late_frames(remote) - late
    told = f"{steps / elapsed:.1f} steps a second, {second / best:.1f} at best, for {rate:g}; {late:g} late frames"
    # The first may have been late by half a frame, and the last early.
    assert (steps - 1) / elapsed <= rate * (1 + TOLERANCE), told
    assert best <= second / rate * (1 + TOLERANCE) or (steps + late + 1) / elapsed >= rate * (1 - TOLERANCE), told


def late_frames(remote: MachineRemote) -> float:
    """How many frames the remote's program has dropped since it began."""
    with urllib.request.urlopen(f"http://127.0.0.1:{remote.port}/metrics") as metrics:
        return float(find(r"(?m)^pluriverse_late_frames_total (\S+)", metrics.read().decode()))


def nothing(action: Any) -> Any:
    """An action of the same shape that presses nothing, or whatever has the number 0."""
    if not isinstance(action, dict):
        return action * 0
    return {name: nothing(part) for name, part in cast("dict[str, Any]", action).items()}


@pytest.mark.parametrize(
    "remote",
    ["gym-core", *(pytest.param(each, marks=pytest.mark.slow) for each in list(PLAYED)[1:])],
    indirect=True,
)
def test_steps_come_as_fast_as_the_frames(remote: tuple[str, MachineRemote]) -> None:
    runtime, served = remote
    env_id, rate = PLAYED[runtime]
    check_pace(env_id, served, rate)


@pytest.mark.slow
@pytest.mark.parametrize("fps", [30, 60])
def test_runtime_that_init_wrote_is_stepped_as_fast_as_is_asked_for(fps: float, tmp_path: Path) -> None:
    init("catch", tmp_path / "catch")
    with on_machine(runtime=str(tmp_path / "catch")) as served:
        check_pace("catch.Catch-v0", served, fps, fps=fps)
