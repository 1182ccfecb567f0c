from __future__ import annotations

from collections import Counter

from pluriverse import catalogue
from pluriverse.evaluation.agents.solvers.table import SOLVERS
from support.solved import TASKS


def test_each_script_is_of_a_task() -> None:
    assert SOLVERS.keys() <= TASKS.keys()


def test_each_task_is_of_an_environment_that_has_its_clocks() -> None:
    clocks = {entry["id"]: entry["clocks"] for entry in catalogue.environments()}
    for task in TASKS.values():
        assert "realtime" in clocks[task.env], task.name
        assert ("lockstep" in clocks[task.env]) == task.paused, task.name


def test_all_runtimes_and_skills_are_there_and_each_runtime_has_a_script() -> None:
    runtimes = Counter(task.env.partition(".")[0] for task in TASKS.values())
    assert runtimes.keys() == {"gym-core", "doom", "flashgames", "internet", "desktop", "wob"}
    assert {TASKS[name].env.partition(".")[0] for name in SOLVERS} == runtimes.keys()
    assert min(Counter(task.skill for task in TASKS.values()).values()) >= 5


def test_a_run_in_one_live_mode_takes_an_hour_at_most() -> None:
    assert 10 * sum(task.seconds for task in TASKS.values()) <= 3600
