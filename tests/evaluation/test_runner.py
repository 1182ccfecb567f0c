from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pluriverse.errors import ConfigurationError
from pluriverse_eval.agents import Agent, AgentFailed, open_agent
from pluriverse_eval.agents.agent import loop
from pluriverse_eval.modes import parse_modes
from pluriverse_eval.play import Play
from pluriverse_eval.results import RESULTS, Episode, Folder
from pluriverse_eval.runner import Runner
from support.evaluated import run, suite, task
from support.process_tree import children

pytestmark = [pytest.mark.slow, pytest.mark.display]

SHORT = task(seconds=0.5)


@dataclass
class Played:
    folder: Folder
    episodes: list[Episode] = field(default_factory=list[Episode])
    problems: list[str] = field(default_factory=list[str])

    def runner(self, open_agent: Callable[[], Agent], modes: str = "paused", seeds: int = 2) -> Runner:
        small = suite(SHORT, task("second", seconds=0.5, paused=False), seeds=seeds)
        report, warn = self.episodes.append, self.problems.append
        return Runner(small, parse_modes(modes), open_agent, self.folder, {}, report, warn)


@pytest.fixture
def played(tmp_path: Path) -> Played:
    folder = Folder(tmp_path)
    folder.begin(run())
    return Played(folder)


class ByWord:
    """An agent whose episodes are played by a function."""

    def __init__(self, plays: Callable[[Play], None]) -> None:
        self._plays = plays

    def play(self, play: Play) -> None:
        self._plays(play)

    def close(self) -> None:
        """Do nothing."""


def test_every_task_is_played_with_each_seed_in_each_mode_that_it_has(played: Played) -> None:
    runner = played.runner(lambda: open_agent("random"), "paused,live")
    runner.run(runner.lots(()), ["local:1", "local:1"])
    assert {episode.key for episode in played.episodes} == {
        *(("pong", mode, seed) for mode in ("paused", "live") for seed in (0, 1)),
        *(("second", "live", seed) for seed in (0, 1)),
    }
    assert not played.problems
    _, kept = played.folder.read()
    assert sorted(episode.key for episode in kept) == sorted(episode.key for episode in played.episodes)
    for episode in kept:
        assert (episode.ended, episode.game_s) == ("budget", pytest.approx(0.5, abs=0.1))
        assert episode.recording is not None
        assert (played.folder.path / episode.recording).exists()


def test_a_paused_run_that_is_played_again_has_the_same_files(tmp_path: Path) -> None:
    def files(name: str, places: int) -> dict[str, bytes]:
        folder = Folder(tmp_path / name)
        folder.begin(run())
        runner = Played(folder).runner(lambda: open_agent("random"))
        runner.run(runner.lots(()), ["local:1"] * places)
        played = folder.path / RESULTS, *folder.recordings.iterdir()
        return {path.name: path.read_bytes() for path in played}

    once = files("once", places=2)
    assert set(once) == {RESULTS, "pong-paused-0.plrec", "pong-paused-1.plrec"}
    assert files("again", places=1) == once


def test_agent_that_fails_loses_its_episode_and_no_other(played: Played) -> None:
    def fails_once(play: Play) -> None:
        if play.seed == 0:
            raise AgentFailed("the model is away")
        loop(play, lambda _: None)

    runner = played.runner(lambda: ByWord(fails_once))
    runner.run(runner.lots(()), ["local:1"])
    failed, fine = played.episodes
    assert (failed.ended, failed.error, failed.success) == ("failed", "the model is away", False)
    assert failed.score <= 0
    assert (fine.ended, fine.error) == ("budget", None)


@pytest.mark.parametrize("mode", ["paused", "live"])
def test_episode_whose_remote_dies_is_played_again(played: Played, mode: str) -> None:
    killed: list[int] = []

    def kill_once(play: Play) -> None:
        if not killed:
            for process in (*children("gym_core"), *children("Xvfb")):
                killed.append(process.pid)
                process.kill()
        loop(play, lambda _: None)

    runner = played.runner(lambda: ByWord(kill_once), mode, seeds=1)
    lots = [lot for lot in runner.lots(()) if lot.task.name == "pong"]
    runner.run(lots, ["local:1"])
    assert killed
    assert [(episode.key, episode.ended) for episode in played.episodes] == [(("pong", mode, 0), "budget")]
    assert not runner.missing


def test_agent_that_cannot_be_had_ends_the_run(played: Played) -> None:
    def refuse() -> Agent:
        raise ConfigurationError("there is no such agent")

    runner = played.runner(refuse)
    with pytest.raises(ConfigurationError, match="no such agent"):
        runner.run(runner.lots(()), ["local:1", "local:1"])


def test_environment_that_is_nowhere_leaves_episodes_that_are_named(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.begin(run())
    small = suite(task(env="gym-core.NoSuchGame-v0"))
    runner = Runner(small, parse_modes("paused"), lambda: open_agent("still"), folder, {}, print, print)
    runner.run(runner.lots(()), ["local:1"])
    assert [missing.partition(": ")[0] for missing in runner.missing] == ["pong paused seed 0", "pong paused seed 1"]
    assert "unknown environment 'gym-core.NoSuchGame-v0'" in runner.missing[0]
