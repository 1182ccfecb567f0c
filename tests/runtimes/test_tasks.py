"""The shipped tasks pass their audit."""

from pathlib import Path
from typing import Final, Literal

import pytest
from pluriverse.adapters.computer import Computer
from pluriverse.errors import Misuse
from pluriverse_authoring.audit import audit
from pluriverse_server.manifest.runtime import load
from pluriverse_server.sources.task import Assignment
from pluriverse_server.task import load_tasks
from support.remotes import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.display, pytest.mark.browser]

RUNTIMES: Final = [ROOT / "runtimes/tasks", ROOT / "runtimes/tasks-web"]


@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda runtime: runtime.name)
def test_a_fifth_of_the_tasks_is_held_out_some_of_each_program_and_difficulty(runtime: Path) -> None:
    manifest = load(runtime)
    files: dict[str, list[bool]] = {}
    difficulties: dict[int, list[bool]] = {}
    for env in manifest.envs:
        source = manifest.game(env.id).task
        assert source is not None
        task = load_tasks(runtime / source.file)[source.name]
        for group in (files.setdefault(source.file, []), difficulties.setdefault(task.difficulty, [])):
            group.append(task.split == "test")
    for group in (*difficulties.values(), *(file for file in files.values() if len(file) > 3)):
        assert 1 / 8 <= sum(group) / len(group) <= 1 / 3


@pytest.mark.parametrize("clock", ["realtime", "lockstep"])
def test_a_diagrams_task_begins_with_the_editor(clock: Literal["realtime", "lockstep"]) -> None:
    with Computer("tasks.DiagramBox-v0", "local:1", clock=clock) as computer:
        computer.begin(seed=3)
        # Its paper is white, with some lines.
        assert (computer.pixels()[300:600, 300:900] > 200).mean() > 0.9


@pytest.mark.timeout(600)
@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda runtime: runtime.name)
def test_a_runtimes_first_task_passes_its_audit(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit(runtime, [load(runtime).runtime.default_env], 2) == 0, capsys.readouterr().out


def test_oracles_of_pages_earn_all_in_slots_by_the_trees_of_these(tmp_path: Path) -> None:
    directory = ROOT / "runtimes/tasks-web"
    manifest = load(directory)
    env_id = manifest.runtime.default_env
    source = manifest.game(env_id).task
    assert source is not None
    with Computer(env_id, "local:1", clock="lockstep") as own:
        own.begin(1)
        for seed, slot in enumerate(own.beside(2)):
            with pytest.raises(Misuse, match="a tree needs one"):
                slot.tree()
            (tmp_path / f"{seed}").mkdir()
            assignment = Assignment(source, directory, env_id, tmp_path / f"{seed}")
            assignment.set_up(seed)
            assert slot.begin(seed).text == assignment.words
            assignment.task.oracle(dict(assignment.parameters), slot)
            assert slot.submit().reward == 1


@pytest.mark.nightly
@pytest.mark.timeout(3 * 3600)
@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda runtime: runtime.name)
def test_all_tasks_pass_their_audit_with_twenty_seeds(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit(runtime, [], 20) == 0, capsys.readouterr().out
