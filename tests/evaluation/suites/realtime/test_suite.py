import importlib

import pytest
from pluriverse import catalogue
from support.solved import TASKS


@pytest.mark.parametrize("script", [task.script for task in TASKS.values() if task.script is not None])
def test_script_is_there(script: str) -> None:
    module, _, name = script.partition(":")
    assert callable(getattr(importlib.import_module(module), name))


@pytest.mark.slow
def test_each_task_is_of_an_environment_that_has_its_clocks() -> None:
    clocks = {entry["id"]: entry["clocks"] for entry in catalogue.environments()}
    for task in TASKS.values():
        assert "realtime" in clocks[task.env], task.name
        assert ("lockstep" in clocks[task.env]) == task.paused, task.name


def test_all_runtimes_are_there_and_each_runtime_has_a_script() -> None:
    runtimes = {task.env.partition(".")[0] for task in TASKS.values()}
    assert runtimes == {"gym-core", "doom", "flashgames", "internet", "desktop", "wob"}
    assert {TASKS[name].env.partition(".")[0] for name, task in TASKS.items() if task.script is not None} == runtimes
