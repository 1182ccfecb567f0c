from pathlib import Path

import pytest
from pluriverse.errors import ConfigurationError
from pluriverse_eval import results
from pluriverse_eval.results import Folder
from support.evaluated import episode, run
from support.full_disk import files_of_at_most


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "out")


def test_what_was_added_is_read_again(folder: Folder) -> None:
    assert folder.begin(run()) == []
    episodes = [episode(seed=seed, reaction_ms=(1.5, 2.0), lags_ms={"reward": (1.0, 2.0)}) for seed in range(3)]
    episodes.append(episode(seed=3, ended="failed", error="a line\u2028 and\x85 another\n, in 漢字"))
    for each in episodes:
        folder.add(each)
    assert folder.read() == (run(), episodes)
    assert Folder(folder.path).begin(run()) == episodes


def test_results_are_read_up_to_their_limit(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.begin(run())
    folder.add(episode())
    monkeypatch.setattr(results, "MAX_BYTES", 10)
    with pytest.raises(ConfigurationError, match="over 10 bytes"):
        folder.read()


def test_line_that_was_cut_off_is_dropped_and_does_not_spoil_the_next(folder: Folder) -> None:
    folder.begin(run())
    folder.add(episode(seed=0))
    file = folder.path / "results.jsonl"
    file.write_bytes(file.read_bytes() + '{"task": "pong", "error": "…'.encode()[:-1])
    assert [each.seed for each in folder.begin(run())] == [0]
    folder.add(episode(seed=1))
    assert [each.seed for each in folder.read()[1]] == [0, 1]


def test_episode_that_was_played_twice_counts_once(folder: Folder) -> None:
    folder.begin(run())
    folder.add(episode(score=10))
    folder.add(episode(score=20))
    assert [each.score for each in folder.read()[1]] == [20]


def test_run_that_goes_on_with_other_modes_is_of_both(folder: Folder) -> None:
    folder.begin(run(modes=["paused"], began=1.0))
    folder.begin(run(modes=["live", "paused"], seeds=[0, 1], began=2.0))
    asked, _ = folder.read()
    assert (asked.modes, asked.seeds, asked.began) == (["paused", "live"], [0, 1], 1.0)


@pytest.mark.parametrize("other", [run(agent="still"), run(digest="e"), run(suite="large")])
def test_results_of_another_agent_or_suite_are_not_mixed(folder: Folder, other: object) -> None:
    folder.begin(run())
    with pytest.raises(ConfigurationError, match="choose another folder with --out"):
        folder.begin(other)  # pyright: ignore[reportArgumentType]


def test_two_runs_cannot_play_into_one_folder_at_once(folder: Folder) -> None:
    with folder.alone():
        with pytest.raises(ConfigurationError, match="another run is using"), Folder(folder.path).alone():
            pass
        folder.begin(run())
        folder.add(episode())
    with Folder(folder.path).alone():
        assert folder.begin(run()) == [episode()]


def test_going_on_loses_nothing_on_a_full_disk(folder: Folder) -> None:
    folder.begin(run())
    folder.add(episode())
    with files_of_at_most(1), pytest.raises(ConfigurationError, match="out can't be written: File too large"):
        folder.begin(run(began=2.0))
    assert folder.read() == (run(), [episode()])


def test_folder_that_cannot_be_written_is_told(folder: Folder) -> None:
    folder.path.write_text("a file")
    with pytest.raises(ConfigurationError, match="can't be written"):
        folder.begin(run())
    with pytest.raises(ConfigurationError, match="the same command resumes the run"):
        folder.add(episode())
