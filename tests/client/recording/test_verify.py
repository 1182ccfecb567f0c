"""Runs that are recorded and played again, on a real remote."""

import contextlib
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from pluriverse.adapters.gymnasium import PluriverseEnv, PluriverseVectorEnv
from pluriverse.cli import app
from pluriverse.recording.verify import verify
from support.remotes import MachineRemote
from typer.testing import CliRunner

pytestmark = pytest.mark.display

BREAKOUT = "gym-core.BreakoutDeterministic-v3"


@pytest.fixture(scope="module")
def run(remote: MachineRemote, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two episodes, and one that went back."""
    path = tmp_path_factory.mktemp("runs") / "run.plrun"
    options: dict[str, Any] = {"clock": "lockstep", "size": (84, 84), "grey": True, "frame_skip": 2, "record": path}
    with PluriverseEnv(BREAKOUT, remotes=remote.address, **options) as env:
        for seed in (1, None):
            env.reset(seed=seed)
            for step in range(60):
                env.step((1, 1, 2, 3, 3)[step % 5])
        moment = env.snapshot()
        env.step(1)
        env.restore(moment)
        for _ in range(10):
            env.step(2)
    return path


def test_a_run_is_the_same_again(run: Path, remote: MachineRemote) -> None:
    verified = verify(run, remote.address, lambda _: None)
    assert (verified.episodes, verified.steps, verified.difference) == (3, 131, "")


def spoilt(run: Path, into: Path, number: int, key: Any, value: Any) -> Path:
    """A copy of a run with another value at a line's key."""
    lines = [json.loads(line) for line in gzip.decompress(run.read_bytes()).splitlines()]
    lines[number][key] = value
    into.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))
    return into


@pytest.mark.parametrize(
    ("number", "key", "value", "difference"),
    [
        (12, 2, 7, "step 11 of 60: the reward is 0, and was 7"),
        (12, 3, "00000000", "step 11 of 60: the pixels differ"),
        (12, slice(4, None), ["terminated"], "step 11 of 60: the episode goes on, and then is terminated"),
        (12, slice(4, None), ["", "00000000"], "step 11 of 60: the text, the observation or the info differs"),
        (1, "frame", "00000000", "the first frame: the pixels differ"),
    ],
)
def test_the_first_step_that_differs_is_named_and_how(
    run: Path, remote: MachineRemote, tmp_path: Path, number: int, key: Any, value: Any, difference: str
) -> None:
    verified = verify(spoilt(run, tmp_path / "spoilt", number, key, value), remote.address, lambda _: None)
    assert verified.difference == f"episode 1 of 3 (seed 1), {difference}"
    assert verified.episodes == 0


def test_the_command_says_what_came_of_it_and_exits_with_it(run: Path, remote: MachineRemote, tmp_path: Path) -> None:
    runner = CliRunner()
    same = runner.invoke(app, ["verify", str(run), "--remotes", remote.address])
    assert same.exit_code == 0
    assert re.fullmatch(r"131 steps of 3 episodes are the same, with \d\d different pictures\n", same.stdout)
    other = spoilt(run, tmp_path / "spoilt", 12, 2, 7)
    differs = runner.invoke(app, ["verify", str(other), "--remotes", remote.address])
    assert differs.exit_code == 1
    assert "the runs differ: episode 1 of 3 (seed 1), step 11 of 60: the reward is 0, and was 7" in differs.stderr
    none = runner.invoke(app, ["verify", str(tmp_path / "none")])
    assert none.exit_code == 2
    assert "isn't a recorded run" in none.stderr


def test_a_vector_is_recorded_in_one_file_and_its_episodes_are_verified_one_by_one(
    remote: MachineRemote, tmp_path: Path
) -> None:
    path = tmp_path / "run.plrun"
    options: dict[str, Any] = {"clock": "lockstep", "record": path, "autoreset_mode": "SameStep"}
    made = PluriverseVectorEnv("gym-core.CartPole-v0", num_envs=2, remotes=remote.address, **options)
    with contextlib.closing(made) as vector:
        vector.reset()
        for _ in range(40):
            vector.step(vector.action_space.sample() * 0)
    verified = verify(path, remote.address, lambda _: None)
    assert verified.difference == ""
    assert verified.episodes > 4
    assert verified.steps == 80
