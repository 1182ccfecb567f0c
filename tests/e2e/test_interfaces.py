"""What agents rely on holds in every interface, and for games, pages, movies and other programs alike."""

from __future__ import annotations

import importlib
from collections.abc import Generator
from pathlib import Path

import pytest
from pluriverse_server.authoring.init import init
from support.pace import check_pace
from support.remotes import ROOT, MachineRemote, on_machine

pytestmark = pytest.mark.browser

# One environment of each kind that a runtime has.
ENVIRONMENTS = {
    "gym-core": ("gym-core.PongDeterministic-v3", "gym-core.MiniGrid-DoorKey-5x5-v0", "gym-core.CartPoleLowD-v0"),
    "world-of-bits": ("wob.mini.ClickTest-v0", "wob.mini.EnterText-v0"),
    "flashgames": ("flashgames.Racer-v0", "flashgames.Puzzle-v0"),
    "internet": ("internet.2048-v0", "internet.Meteors-v0"),
    "doom": ("doom.Basic-v0", "doom.FreePlay-v0"),
    # Both are started anew for each episode; one waits for it on a spare screen, the other is a terminal's.
    "desktop": ("desktop.Gnome2048-v0", "desktop.MoonBuggy-v0"),
}

# Environments whose episodes last, with the frames a second that they are stepped at.
PACES = {
    "gym-core": ("gym-core.PongDeterministic-v3", 60),
    "world-of-bits": ("wob.mini.ClickTest-v0", 60),
    "flashgames": ("flashgames.Puzzle-v0", 30),
    "internet": ("internet.2048-v0", 60),
    "doom": ("doom.Basic-v0", 35),
    "desktop": ("desktop.MoonBuggy-v0", 60),
}


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
]


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
@pytest.mark.parametrize(("remote", "interface"), PAIRS, indirect=["remote"])
def test_runtime_keeps_the_contract_of(interface: str, remote: tuple[str, MachineRemote]) -> None:
    runtime, served = remote
    check = importlib.import_module(f"pluriverse.testing.{interface}").check
    for env_id in ENVIRONMENTS[runtime]:
        check(env_id, served.address)


@pytest.mark.parametrize(("remote", "interface"), PAIRS, indirect=["remote"])
def test_steps_come_as_fast_as_the_frames_through(interface: str, remote: tuple[str, MachineRemote]) -> None:
    runtime, served = remote
    env_id, rate = PACES[runtime]
    check_pace(interface, env_id, served, rate)


@pytest.mark.parametrize("fps", [30, 60])
def test_runtime_that_init_wrote_is_stepped_as_fast_as_is_asked_for(fps: float, tmp_path: Path) -> None:
    init("catch", tmp_path / "catch")
    with on_machine(runtime=str(tmp_path / "catch")) as served:
        check_pace("gymnasium", "catch.Catch-v0", served, fps, fps=fps)
