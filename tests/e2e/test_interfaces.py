"""What agents rely on holds in every interface, and for games, pages, movies and other programs alike."""

from __future__ import annotations

import importlib
from collections.abc import Generator
from pathlib import Path

import pytest
from pluriverse_authoring.init import init
from support.pace import check_pace
from support.remotes import ROOT, MachineRemote, on_machine

pytestmark = pytest.mark.browser

# What is played of each runtime, whose episodes last, and the frames a second that it is stepped at.
PLAYED = {
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
    env_id, _ = PLAYED[runtime]
    importlib.import_module(f"pluriverse.testing.{interface}").check(env_id, served.address)


@pytest.mark.parametrize(
    ("remote", "interface"),
    [PAIRS[0], *(pytest.param(*pair, marks=pytest.mark.slow) for pair in PAIRS[1:])],
    indirect=["remote"],
)
def test_steps_come_as_fast_as_the_frames_through(interface: str, remote: tuple[str, MachineRemote]) -> None:
    runtime, served = remote
    env_id, rate = PLAYED[runtime]
    check_pace(interface, env_id, served, rate)


@pytest.mark.slow
@pytest.mark.parametrize("fps", [30, 60])
def test_runtime_that_init_wrote_is_stepped_as_fast_as_is_asked_for(fps: float, tmp_path: Path) -> None:
    init("catch", tmp_path / "catch")
    with on_machine(runtime=str(tmp_path / "catch")) as served:
        check_pace("gymnasium", "catch.Catch-v0", served, fps, fps=fps)
