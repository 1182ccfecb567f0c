from typing import Any

from pluriverse_eval.statistics import compare
from pluriverse_eval.table import tabulate
from pluriverse_eval.tables import Runs, beside, differences, scores
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
        ["scripted", "100.0 (1 episode)", "100.0 (1 episode)"],
        ["random", "-0.4 (1 episode)", "2.0 (1 episode)"],
        ["still", "0.0 (1 episode)", "-"],
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


def test_few_episodes_are_counted_beside_their_interval_and_very_few_have_none() -> None:
    def told(count: int) -> str:
        episodes = [episode(seed=seed, score=50 + seed % 2) for seed in range(count)]
        return scores(tabulate(episodes, ["pong"], ["paused"])).rows[0][1]

    assert told(1) == "50.0 (1 episode)"
    assert told(4) == "50.5 (4 episodes)"
    assert told(8) == "50.5 (50 to 51, 8 episodes)"
    assert told(10) == "50.5 (50 to 51)"


def test_what_was_earned_stands_between_what_scores_0_and_what_100() -> None:
    table = tabulate([episode(score=50, earned=0.0)], ["pong"], ["paused"])
    sheet = scores(table, {"pong": (-2.0, 2.0)})
    assert sheet.head == ["task", "0 is", "100 is", "paused", "earned", "succeeded"]
    assert sheet.rows[0] == ["pong", "-2", "2", "50.0 (1 episode)", "0", "0 %"]
    assert {len(row) for row in sheet.rows} == {6}


def test_few_pairs_are_told_in_a_comparison() -> None:
    def verdict(pairs: int) -> tuple[str, ...]:
        first = {("pong", seed): 0.0 for seed in range(pairs)}
        together, tasks = compare(first, dict.fromkeys(first, 5.0))
        _, *told = differences("live", tasks, together).rows[0]
        return tuple(told)

    assert verdict(4) == ("+5.0", "-", "4", "-", "fewer than 5 pairs of a task: too few to tell")
    assert verdict(5)[1:] == ("+5.0 to +5.0", "5", "0.000", "real, of fewer than 10 pairs of a task")
    assert verdict(10)[-1] == "real"
