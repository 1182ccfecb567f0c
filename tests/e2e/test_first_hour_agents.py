"""The first hour of somebody who trains or tries an agent: nothing is silent, misleading, or in others' words."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import pluriverse
import pytest
from pluriverse.adapters import gymnasium as registered
from pluriverse.errors import ConfigurationError, RemoteUnavailable
from support.remotes import MachineRemote, on_machine
from typer.main import get_command

pytestmark = pytest.mark.display

# Whichever of the two was imported first.
gymnasium.register_envs(registered)

PONG = "gym-core.PongDeterministic-v3"

# Far below what waiting for a remote takes that never comes.
AT_ONCE_S = 30.0


def run(command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    plain = {**os.environ, "TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "200"}
    program = Path(sys.executable).with_name(command)
    return subprocess.run([program, *arguments], capture_output=True, text=True, env=plain, timeout=100)


@pytest.fixture(scope="module")
def remote() -> Iterator[MachineRemote]:
    with on_machine("--env", PONG) as remote:
        yield remote


def test_second_agent_is_told_at_once_that_another_plays_and_what_can_be_done(remote: MachineRemote) -> None:
    with pluriverse.make(PONG, remote.address) as first:
        first.reset()
        for make in (lambda: pluriverse.make(PONG, remote.address), lambda: gymnasium_env(remote.address)):
            began = time.monotonic()
            with pytest.raises(RemoteUnavailable, match=r"another agent plays it.*observer=True.*another remote"):
                make()
            assert time.monotonic() - began < AT_ONCE_S
        told = run("pluriverse", "random", "-e", PONG, "-r", remote.address)
        assert (told.returncode, told.stderr.count("\n")) == (1, 1)
        assert "another agent plays it" in told.stderr
        with pluriverse.make(None, remote.address, observer=True) as watcher:
            assert watcher.n == 1
        with pluriverse.make(PONG, remote.address, take_over=True) as second:
            second.reset()
            while not all(first.step([[]])[2]):
                first.wait(AT_ONCE_S)
            while second.step([[]])[0] == [None]:
                second.wait(AT_ONCE_S)
    gymnasium_env(remote.address).close()


def gymnasium_env(address: str) -> gymnasium.Env[Any, Any]:
    return gymnasium.make(f"pluriverse/{PONG}", remotes=address)


def test_wrong_password_is_told_in_plain_words(remote: MachineRemote) -> None:
    wrong = remote.address.replace(remote.password, "wrong-one")
    told = run("pluriverse", "random", "-e", PONG, "-r", wrong)
    assert (told.returncode, told.stderr.count("\n")) == (1, 1)
    assert "the password is missing or wrong" in told.stderr
    assert "HTTP" not in told.stderr


def test_ids_and_options_of_others_are_answered_with_ours(remote: MachineRemote) -> None:
    with pytest.raises(ConfigurationError, match=r"did you mean gym-core\.Pong-v3"):
        pluriverse.make("ALE/Pong-v5", 1)
    with pytest.raises(ConfigurationError, match=r"did you mean pluriverse/gym-core\.Pong-v3\?"):
        gymnasium.make("gym-core.Pong-v3")
    with pytest.raises(ConfigurationError, match=r"unknown option 'gray' \(did you mean grey\?\)"):
        gymnasium.make("pluriverse/gym-core.Pong-v3", remotes=remote.address, gray=True)


@pytest.mark.slow
def test_misspelt_commands_and_options_are_answered_with_the_nearest() -> None:
    for command, *arguments, meant in (
        ("pluriverse", "radnom", "'random'"),
        ("pluriverse", "random", "--secnds", "1", "--seconds"),
        ("pluriverse", "eval", "reprot", "'report'"),
        ("pluriverse-server", "recrod", "'record'"),
        ("pluriverse-server", "run", "--vnc-prt", "1", "--vnc-port"),
    ):
        told = run(command, *arguments)
        assert told.returncode == 2
        assert meant in told.stderr, told.stderr


def test_every_command_has_an_example_and_both_have_a_version() -> None:
    from pluriverse import cli
    from pluriverse_eval.cli import app as evaluation
    from pluriverse_server.console.cli import app as server

    for app in (cli.app, server, evaluation):
        for name, command in vars(get_command(app))["commands"].items():
            assert str(command.epilog).startswith("Example: pluriverse"), name
    for command in ("pluriverse", "pluriverse-server"):
        assert run(command, "--version").stdout.split()[0] == command


@pytest.mark.slow
def test_one_episode_has_no_interval(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    suite = tmp_path / "short.toml"
    suite.write_text(
        'name = "short"\nversion = 1\nseeds = [1]\n[[tasks]]\nname = "pong"\n'
        f'env = "{PONG}"\nasks = "Return the ball."\nskill = "reflexes"\nseconds = 1\n'
        "random = -1\nreference = 1\nsuccess = 1\n"
    )
    told = run("pluriverse", "eval", str(suite), "-a", "still", "-r", "local:1", "-m", "paused", "--out", out)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "50.0 (1 episode)" in told.stdout
    page = (tmp_path / "out" / "report.html").read_text()
    assert "50.0 (1 episode)" in page
    assert "100 is" in page
    assert "Each task has a budget" in page
