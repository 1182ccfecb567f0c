import sys
from pathlib import Path

import pytest
from pluriverse.errors import ConfigurationError
from pluriverse_eval.agents.python import python_agent
from pluriverse_eval.suite import Suite, read_suite, scripted
from pluriverse_protocol import bounded
from support.evaluated import suite, task

TASK = """
[[tasks]]
name = "pong"
env = "gym-core.Pong-v3"
asks = "Return the ball."
seconds = 10
random = -5
reference = 5
success = 0
"""
HEAD = 'name = "mine"\nversion = 1\nseeds = [1, 2]\n'


def read(folder: Path, text: str) -> Suite:
    path = folder / "suite.toml"
    path.write_text(text)
    return read_suite(str(path))


def test_score_is_0_for_what_a_random_agent_earns_and_100_for_the_reference_and_no_more(tmp_path: Path) -> None:
    (pong,) = read(tmp_path, HEAD + TASK).tasks
    assert [pong.score(earned) for earned in (-15, -5, 0, 5, 10)] == [-100, 0, 50, 100, 100]


def test_suite_that_is_changed_has_another_digest(tmp_path: Path) -> None:
    assert read(tmp_path, HEAD + TASK).digest != read(tmp_path, HEAD + TASK + "\n# changed").digest


def test_suite_has_the_tasks_whose_scripts_are_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "moves.py").write_text("def wait(seen): return None\n")
    other = TASK.replace('"pong"', '"other"')
    mine = scripted(read(tmp_path, HEAD + TASK + 'script = "moves:wait"\n' + other))
    assert [task.name for task in mine.tasks] == ["pong"]
    assert python_agent(*str(mine.tasks[0].script).split(":"))
    with pytest.raises(ConfigurationError, match="no task of mine has a script"):
        scripted(read(tmp_path, HEAD + TASK))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD, "tasks: Field required"),
        (HEAD + TASK + TASK, "tasks: pong is listed twice"),
        (HEAD.replace("2]", "1]") + TASK, "seeds: 1 is listed twice"),
        (HEAD + TASK.replace("seconds = 10", "seconds = 0"), "tasks.0.seconds: "),
        (HEAD + TASK.replace("reference = 5", "reference = -5"), "random and reference are equal"),
        (HEAD + TASK + 'colour = "red"', "tasks.0.colour: Extra inputs are not permitted"),
        (HEAD + "[[tasks]", "isn't TOML"),
        (HEAD + "a = " + "[" * 100_000, "isn't TOML: nested too deeply"),
        ("#" * (bounded.MAX_TEXT_BYTES + 1), f"has over {bounded.MAX_TEXT_BYTES} bytes"),
    ],
)
def test_what_is_wrong_with_a_suite_is_said_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        read(tmp_path, text)
    assert said in str(error.value)
    assert "suite.toml" in str(error.value)


@pytest.mark.parametrize(("where", "said"), [("nowhere.toml", "can't be read"), ("nothing", "or one of realtime")])
def test_suite_that_is_not_there_is_told_with_those_that_are(where: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        read_suite(where)


def test_environments_that_are_tasks_are_a_suite() -> None:
    made = read_suite("tasks.*AppendLine-v0")
    assert (made.name, made.version, len(made.seeds)) == ("tasks-appendline-v0", 1, 10)
    (append,) = made.tasks
    assert append.name.endswith("append-line")
    assert (append.asks[:8], append.paused) == ("Add the ", True)
    assert [append.score(earned) for earned in (0, 0.5, 1)] == [0, 50, 100]
    with pytest.raises(ConfigurationError, match=r"no environment that matches world-of-bits\.\* is a task"):
        read_suite("world-of-bits.*")


def test_a_suite_of_tasks_is_those_of_a_split() -> None:
    made = read_suite("tasks.Notes*", "test")
    assert (made.name, [each.name for each in made.tasks]) == ("tasks-notes-test", ["notes-find-and-add"])
    with pytest.raises(ConfigurationError, match="is a task of the split dev"):
        read_suite("tasks.Notes*", "dev")
    with pytest.raises(ConfigurationError, match="the tasks of realtime have no splits"):
        read_suite("realtime", "test")


def test_part_of_a_suite_is_its_tasks_by_pattern_and_its_first_seeds() -> None:
    whole = suite(task("click-a"), task("click-b"), task("pong"), seeds=5)
    part = whole.only(["click-*"], 2)
    assert [each.name for each in part.tasks] == ["click-a", "click-b"]
    assert part.seeds == [0, 1]
    assert whole.only([], None) == whole
    with pytest.raises(ConfigurationError, match="there are: click-a, click-b, pong"):
        whole.only(["racer"], None)
    with pytest.raises(ConfigurationError, match="has 5"):
        whole.only([], 6)
