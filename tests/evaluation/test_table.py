from pluriverse_eval.table import tabulate
from support.evaluated import episode


def test_cell_has_the_mean_the_median_episode_and_what_failed() -> None:
    episodes = [episode(seed=seed, score=score) for seed, score in enumerate((90, 10, 50))]
    episodes.append(episode(seed=3, score=0, ended="failed", error="it ended"))
    cell = tabulate(episodes, ["pong"], ["paused"]).cells["pong", "paused"]
    assert cell.score.mean == 37.5
    assert cell.median.score == 50
    assert cell.succeeded == 0.25
    assert cell.failed == 1


def test_all_is_of_the_tasks_that_every_mode_has() -> None:
    episodes = [
        episode("pong", "paused", score=100),
        episode("pong", "live", score=50),
        episode("form", "live", score=0, reaction_ms=(30.0, 40.0)),
    ]
    table = tabulate(episodes, ["pong", "form"], ["paused", "live"])
    assert table.counted == 1
    assert [table.all[mode].score.mean for mode in ("paused", "live")] == [100, 50]
    assert table.cells["form", "live"].reaction_ms == 30


def test_tasks_and_modes_that_were_not_played_are_left_out() -> None:
    table = tabulate([episode()], ["maze", "pong"], ["paused", "live"])
    assert (table.tasks, table.modes) == (["pong"], ["paused"])
