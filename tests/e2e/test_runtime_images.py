"""The images of the runtimes: hardened, without any network, each plays."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from pluriverse.adapters.computer import Computer
from pluriverse.remotes.docker import LIMITS
from pluriverse.testing import check_gymnasium
from pluriverse_server.manifest.runtime import load
from pluriverse_server.sources.task import Assignment
from support.agent import connected
from support.remotes import HARDENED, ROOT, in_container
from support.repeated import assert_repeatable

# The environment that each begins with, and a program of which there is no doubt that it plays.
BEGINS = {
    "gym-core": ("gym-core.PongDeterministic-v3", "main.py"),
    "world-of-bits": ("wob.mini.ClickTest-v0", "chromium"),
    "flashgames": ("flashgames.Racer-v0", "chromium"),
    "internet": ("internet.2048-v0", "chromium"),
    "doom": ("doom.Basic-v0", "vizdoom"),
    "desktop": ("desktop.FrozenBubble-v0", "frozen-bubble"),
    "tasks": ("tasks.MousepadAppendLine-v0", "mousepad"),
    "tasks-web": ("tasks-web.ShopOrder-v0", "chromium"),
}

pytestmark = pytest.mark.container


def images(*runtimes: str) -> list[Any]:
    """The runtimes, each with the mark of its image alone."""
    return [pytest.param(runtime, marks=pytest.mark.container(runtime)) for runtime in runtimes]


@pytest.mark.parametrize("runtime", images(*BEGINS))
def test_image_keeps_gymnasiums_contract(runtime: str) -> None:
    env_id, _ = BEGINS[runtime]
    with in_container(runtime=runtime) as remote:
        check_gymnasium(env_id, remote.address)


@pytest.mark.parametrize("runtime", images(*BEGINS))
async def test_nothing_in_the_image_runs_as_root(runtime: str) -> None:
    with in_container(runtime=runtime) as remote:
        async with connected(remote.port, remote.password, observer=True) as agent:
            await agent.hear_method("v0.env.describe", env_state="running")
        listed = remote.container.top(ps_args="-eo pid,uid,args")
        assert {row[1] for row in listed["Processes"]} == {"1000"}
        assert any(BEGINS[runtime][1] in row[2] for row in listed["Processes"])


@pytest.mark.parametrize("limits", [HARDENED, LIMITS])
@pytest.mark.parametrize("runtime", images("gym-core", "doom"))
def test_image_plays_the_same_again_in_lockstep(runtime: str, limits: dict[str, Any]) -> None:
    env_id, _ = BEGINS[runtime]
    with in_container(runtime=runtime, limits=limits) as remote:
        assert_repeatable(env_id, remote.address, frame_skip=1, steps=200)


@pytest.mark.parametrize("runtime", images("tasks", "tasks-web"))
def test_an_oracle_solves_its_task_in_the_image(runtime: str) -> None:
    assert unsolved(runtime, [BEGINS[runtime][0]]) == []


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("runtime", images("tasks", "tasks-web"))
def test_all_oracles_solve_their_tasks_in_the_image(runtime: str) -> None:
    assert unsolved(runtime, [entry.id for entry in load(ROOT / "runtimes" / runtime).envs]) == []


def unsolved(runtime: str, env_ids: list[str]) -> list[str]:
    """Play each task's oracle in a container, and return the tasks that it doesn't solve."""
    folder = ROOT / "runtimes" / runtime
    manifest, found = load(folder), list[str]()
    with in_container(runtime=runtime) as remote, Computer(env_ids[0], remote.address, clock="lockstep") as computer:
        for env_id in env_ids:
            source = manifest.game(env_id).task
            assert source is not None
            with TemporaryDirectory() as home:
                assignment = Assignment(source, folder, env_id, Path(home))
                assignment.set_up(0)
            assert computer.begin(0, env=env_id, clock="lockstep").text == assignment.words
            assignment.task.oracle(dict(assignment.parameters), computer)
            if computer.submit().reward != 1:
                found.append(env_id)
    return found
