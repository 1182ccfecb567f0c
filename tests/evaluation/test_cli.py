import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pluriverse_eval.cli import app
from pluriverse_eval.results import Folder
from support.evaluated import episode, run
from support.waiting import until
from typer.testing import CliRunner, Result

pytestmark = pytest.mark.display

COMMAND = [sys.executable, "-m", "pluriverse.cli", "eval"]
ENVIRONMENT = {**os.environ, "TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "160"}
DEADLINE_S = 60.0

SUITE = """
name = "small"
version = 1
seeds = [0, 1, 2]

[[tasks]]
name = "pong"
env = "gym-core.PongNoFrameskip-v3"
asks = "Return the ball."
seconds = 1
random = -2
reference = 2
success = 1
"""


def evaluate(*arguments: str) -> Result:
    return CliRunner(env={"TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "160"}).invoke(app, [*arguments])


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SUITE)
    return path


def test_suite_is_played_reported_and_not_played_twice(suite: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = [str(suite), "--agent", "random", "--remotes", "local:1", "--modes", "paused", "--out", str(out)]
    first = evaluate(*arguments, "--seeds", "1")
    assert first.exit_code == 0, first.stderr
    assert "pong paused seed 0: " in first.stdout
    assert str(out / "report.html") in first.stdout
    second = evaluate("run", *arguments)
    assert second.exit_code == 0, second.stderr
    assert "seed 0" not in second.stdout
    lines = (out / "results.jsonl").read_text().splitlines()
    assert [json.loads(line)["seed"] for line in lines] == [0, 1, 2]
    assert (out / "report.html").exists()
    assert len(list((out / "recordings").iterdir())) == 3
    assert evaluate("report", str(out)).exit_code == 0
    assert "| tasks in common: 1 " in evaluate("table", str(out), str(out)).stdout


@pytest.mark.slow
def test_run_that_is_ended_with_ctrl_c_keeps_what_was_played(suite: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = [str(suite), "-a", "still", "-r", "local:1", "-m", "live", "--out", str(out)]
    process = subprocess.Popen([*COMMAND, *arguments], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    results = out / "results.jsonl"
    until(lambda: results.exists() and results.read_text())
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=DEADLINE_S)
    assert "the same command resumes the run" in said
    assert process.returncode == 130
    _, episodes = Folder(out).read()
    # The one that was being played, too.
    assert len(episodes) == len(list((out / "recordings").iterdir())) <= 3


@pytest.mark.slow
def test_agent_that_hangs_is_not_waited_for_after_a_second_ctrl_c(suite: Path, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    agent = tmp_path / "agent.py"
    agent.write_text(
        f"import pathlib, time\n\ndef hang(_):\n    pathlib.Path({str(begun)!r}).touch()\n    time.sleep(3600)\n"
    )
    arguments = [str(suite), "-a", f"{agent}:hang", "-r", "local:1", "-m", "paused", "--out", str(tmp_path / "out")]
    process = subprocess.Popen([*COMMAND, *arguments], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    until(begun.exists)
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=DEADLINE_S)
    assert "Ctrl-C again" in said
    assert process.returncode == 130


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing"], "unknown suite 'nothing'"),
        (["report", "/nowhere"], "no results"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_line(arguments: list[str], said: str) -> None:
    result = evaluate(*arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


def results(path: Path, agent: str, scores: list[float], digest: str = "d", mode: str = "paused") -> str:
    folder = Folder(path / agent)
    folder.begin(run(agent, digest=digest, modes=[mode]))
    for seed, score in enumerate(scores):
        folder.add(episode(mode=mode, seed=seed, score=score))
    return str(folder.path)


def test_comparison_says_which_difference_is_real(tmp_path: Path) -> None:
    a = results(tmp_path, "a", [10, 20, 30, 40, 50, 60])
    b = results(tmp_path, "b", [15, 26, 34, 45, 57, 65])
    c = results(tmp_path, "c", [20, 10, 40, 30, 40, 70])
    better = evaluate("compare", a, b)
    assert better.exit_code == 0, better.stderr
    assert "b less a" in better.stdout
    assert "real" in better.stdout
    assert "+5.3" in better.stdout
    assert "may be chance" in evaluate("compare", a, c).stdout


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    a = results(tmp_path, "a", [1])
    for other, said in (
        (results(tmp_path, "b", [1], digest="e"), "different suites"),
        (results(tmp_path, "c", [1], mode="live"), "no mode in common"),
        (results(tmp_path, "d", []), "no task and seed in common"),
    ):
        result = evaluate("compare", a, other)
        assert result.exit_code == 2
        assert said in " ".join(result.stderr.split())
