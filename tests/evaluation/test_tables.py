from __future__ import annotations

from typing import Any

from pluriverse_eval.tables import Runs, beside
from support.evaluated import episode, run

WHAT: dict[str, Any] = {"modes": ["paused", "live"], "tasks": ["pong", "form"]}


def cells(runs: Runs) -> list[list[list[str]]]:
    """The cells of each table as Markdown, without its line below the head."""
    tables = [table.text().splitlines() for table in beside(runs)]
    return [[[cell.strip() for cell in line.split("|")[1:-1]] for line in (rows[0], *rows[2:])] for rows in tables]


def test_runs_stand_beside_each_other_for_what_all_have_played_and_for_each_task() -> None:
    scripted = [episode(task, mode, score=100) for task in ("pong", "form") for mode in ("paused", "live")]
    random = [
        episode("pong", "paused", score=-0.4),
        episode("pong", "live", score=2),
        episode("form", "live", score=-30),
    ]
    still = [episode("pong", "paused", score=0)]
    together, means = cells([(run("scripted", **WHAT), scripted), (run(**WHAT), random), (run("still", **WHAT), still)])
    assert together == [
        ["tasks in common: 1", "paused", "live"],
        ["scripted", "100.0 (100 to 100)", "100.0 (100 to 100)"],
        ["random", "-0.4 (0 to 0)", "2.0 (2 to 2)"],
        ["still", "0.0 (0 to 0)", "-"],
    ]
    assert means == [
        ["task", "scripted, paused", "scripted, live", "random, paused", "random, live", "still, paused"],
        ["pong", "100", "100", "0", "2", "0"],
        ["form", "100", "100", "-", "-30", "-"],
    ]


def test_of_repeated_runs_it_is_told_how_much_each_mean_differs() -> None:
    runs = [
        (run("scripted", **WHAT), [episode("pong", "live", score=score), episode("form", "live", score=100)])
        for score in (90, 94)
    ]
    _, _, *repeated = cells([*runs, (run("random"), [episode("pong", "live", score=0)])])
    assert repeated == [
        [["scripted, 2 runs: standard deviation of the mean", "live"], ["pong", "2.8"], ["form", "0.0"]],
    ]
