"""The first hour of somebody who trains or tries an agent: nothing is silent, misleading, or in others' words."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pluriverse
import pytest
from pluriverse.errors import RemoteUnavailable
from support.remotes import on_machine

pytestmark = pytest.mark.display

PONG = "gym-core.PongDeterministic-v3"

# Far below what waiting for a remote takes that never comes.
AT_ONCE_S = 30.0


def run(command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    plain = {**os.environ, "TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "200"}
    program = Path(sys.executable).with_name(command)
    return subprocess.run([program, *arguments], capture_output=True, text=True, env=plain, timeout=100)


def test_second_agent_is_told_at_once_that_another_plays_and_what_can_be_done() -> None:
    with on_machine("--env", PONG) as remote, pluriverse.make(PONG, remote.address) as first:
        first.reset()
        began = time.monotonic()
        with pytest.raises(RemoteUnavailable, match=r"another agent plays it.*observer=True.*another remote"):
            pluriverse.make(PONG, remote.address)
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


def test_both_commands_have_a_version() -> None:
    for command in ("pluriverse", "pluriverse-server"):
        assert run(command, "--version").stdout.split()[0] == command
