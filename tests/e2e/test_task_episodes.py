"""Tasks from end to end: an agent reads the words, acts, says that it is done, and is graded, in either clock."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pluriverse.adapters.computer import Computer, Type, Wait
from pluriverse.adapters.gymnasium import PluriverseEnv
from pluriverse.errors import ActionError
from pluriverse_server.task import chance
from support.process_tree import children
from support.remotes import MachineRemote, on_machine
from support.typing_tasks import TASKS, write_tasks

pytestmark = [pytest.mark.slow, pytest.mark.display]


@pytest.fixture(scope="module")
def typing(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with on_machine(runtime=str(write_tasks(tmp_path_factory.mktemp("typing") / "typing"))) as remote:
        yield remote


@pytest.fixture(params=["realtime", "lockstep"])
def clock(request: pytest.FixtureRequest) -> Any:
    return request.param


@contextmanager
def doing(remote: MachineRemote, task: str, clock: Any) -> Generator[tuple[Computer, str]]:
    """A computer on which the task of seed 3 has begun, and the word to be typed."""
    with Computer(f"typing.{task}-v0", remote.address, clock=clock) as computer:
        words = computer.begin(seed=3).text
        yield computer, words.removeprefix("Type ").removesuffix(".")


def test_what_is_done_when_it_is_submitted_is_the_grade(typing: MachineRemote, clock: Any) -> None:
    with doing(typing, "TypeWord", clock) as (computer, word):
        for typed, grade in (("", 0.0), (word[:3], 0.0), (word, 1.0)):
            computer.begin(seed=3)
            computer.do(Type(typed))
            # In real time keys take theirs.
            computer.do(Wait(0.5))
            answer = computer.submit()
            assert (answer.reward, answer.terminated) == (grade, True)
            assert computer.standing().info["reason"] == "submitted"


def test_the_same_seed_has_the_same_words_and_others_have_others(typing: MachineRemote, clock: Any) -> None:
    with Computer("typing.TypeWord-v0", typing.address, clock=clock) as computer:
        texts = [computer.begin(seed=seed).text for seed in (3, 4, 3)]
        assert texts[0] == texts[2] != texts[1]
        rng = chance("typing.TypeWord-v0", 4)
        rng.randrange(1, 32)
        assert texts[1] == f"Type {''.join(rng.choices('abcdef', k=6))}."


def test_one_that_changes_earns_as_it_is_done_and_ends_itself(typing: MachineRemote, clock: Any) -> None:
    with doing(typing, "TypeAsItChanges", clock) as (computer, _):
        computer.do(Type("abc"))
        computer.do(Wait(0.5))
        assert computer.total_reward == pytest.approx(0.5)
        computer.do(Type("def"))
        while not computer.over:
            computer.send([])
        assert computer.total_reward == pytest.approx(1.0)


def test_one_that_is_graded_at_its_end_needs_no_submission(typing: MachineRemote, clock: Any) -> None:
    with doing(typing, "TypeInTime", clock) as (computer, word):
        computer.do(Type(word))
        while not computer.over:
            computer.send([])
        assert computer.total_reward == 1.0


def test_one_that_is_not_submitted_earns_nothing(tmp_path: Path, clock: Any) -> None:
    tasks = TASKS.replace("seconds = 20", "seconds = 3")
    directory = write_tasks(tmp_path / "typing", tasks)
    with on_machine(runtime=str(directory)) as remote, doing(remote, "TypeWord", clock) as (computer, word):
        computer.do(Type(word))
        while not computer.over:
            computer.send([])
        assert computer.total_reward == 0.0


def test_a_check_that_fails_ends_the_episode_with_its_line(tmp_path: Path, clock: Any) -> None:
    tasks = TASKS.replace('read_text() == p["word"]', 'read_text() == p["nothing"]')
    directory = write_tasks(tmp_path / "typing", tasks)
    line = next(number for number, text in enumerate(tasks.splitlines(), 1) if '"nothing"' in text)
    with on_machine(runtime=str(directory)) as remote, doing(remote, "TypeWord", clock) as (computer, _):
        answer = computer.submit()
        assert (answer.reward, answer.truncated) == (0.0, True)
        reason = computer.standing().info["reason"]
        assert f"typing.py, line {line}: KeyError" in reason


def test_tasks_of_one_program_that_starts_the_same_start_it_once_for_all_seeds(tmp_path: Path) -> None:
    backwards = """

class TypeBackwards(TypeWord):
    def check(self, p, look):
        return float((look.home / "typed").read_text() == p["word"][::-1])
"""
    program = 'clock = ["realtime", "lockstep"]\nsame_start = true'
    directory = write_tasks(tmp_path / "typing", TASKS + backwards, program=program)
    with on_machine(runtime=str(directory)) as remote, doing(remote, "TypeWord", "lockstep") as (computer, _):
        started = children("scraper.keeper")
        for seed, task in ((3, "TypeWord"), (3, "TypeBackwards"), (4, "TypeBackwards"), (3, "TypeWord")):
            text = computer.begin(seed, env=f"typing.{task}-v0").text
            word = text.removeprefix("Type ").removesuffix(".")
            computer.do(Type(word if task == "TypeWord" else word[::-1]))
            assert computer.submit().reward == 1.0
        assert children("scraper.keeper") == started


def test_what_runs_before_a_program_is_started_once_for_all_seeds_and_tasks(tmp_path: Path) -> None:
    program = 'clock = ["realtime", "lockstep"]\nbefore = ["openbox"]'
    directory = write_tasks(tmp_path / "typing", TASKS, program=program)
    seen: list[Any] = []
    for seeds in ((3, 4, 5), (5, 4, 3)):
        with on_machine(runtime=str(directory)) as remote, doing(remote, "TypeWord", "lockstep") as (computer, _):
            started = children("scraper.keeper")
            begun: dict[int, Any] = {}
            for seed in (*seeds, *seeds):
                text = computer.begin(seed).text
                first = text, computer.pixels().tobytes()
                assert begun.setdefault(seed, first) == first
                computer.do(Type(text.removeprefix("Type ").removesuffix(".")))
                assert computer.submit().reward == 1.0
            assert children("scraper.keeper") == started
            seen.append(begun)
    assert seen[0] == seen[1]


def test_moments_of_a_task_have_its_words_and_files(typing: MachineRemote) -> None:
    with PluriverseEnv("typing.TypeWord-v0", remotes=typing.address, clock="lockstep", actions="events") as env:
        observation, info = env.reset(seed=3)
        assert info["text"] == observation["text"]
        word = info["text"].removeprefix("Type ").removesuffix(".")
        typed = [[["KeyEvent", ord(letter), down]] for letter in word for down in (True, False)]
        for action in typed[:6]:
            env.step(action)
        moment = env.snapshot()
        env.reset(seed=4)
        env.restore(moment)
        for action in typed[6:]:
            env.step(action)
        *_, reward, terminated, truncated, last = env.step([["SubmitEvent"]])
        assert (reward, terminated, truncated, last["text"]) == (1.0, True, False, info["text"])


def test_a_submission_is_a_part_of_actions(typing: MachineRemote, clock: Any) -> None:
    with PluriverseEnv("typing.TypeWord-v0", remotes=typing.address, clock=clock) as env:
        env.reset(seed=3)
        action = env.action_space.sample()
        assert action["submit"].shape == (1,)
        terminated = env.step({**action, "submit": np.zeros(1, np.int8)})[2]
        assert not terminated
        for _ in range(100):
            terminated = terminated or env.step({"submit": np.ones(1, np.int8)})[2]
        assert terminated


def test_environments_that_end_by_themselves_take_no_submission() -> None:
    with Computer("gym-core.Pong-v3", "local:1", clock="lockstep") as computer:
        computer.begin(seed=3)
        with pytest.raises(ActionError, match="ends by itself"):
            computer.submit()
