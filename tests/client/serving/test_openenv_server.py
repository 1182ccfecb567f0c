"""Environments that OpenEnv's own clients and validator use."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from openenv.cli._validation import validate_running_environment  # pyright: ignore[reportMissingTypeStubs]
from openenv.core import GenericEnvClient, SyncEnvClient  # pyright: ignore[reportMissingTypeStubs]
from pluriverse.adapters.openenv import PluriverseAction, PluriverseEnv
from support.ports import free_port
from support.remotes import started
from websockets.sync.client import connect

PONG = "gym-core.PongNoFrameskip-v3"
PLURIVERSE = str(Path(sys.executable).with_name("pluriverse"))


@contextlib.contextmanager
def serving(env_id: str, *more: str, remotes: str = "local:1") -> Generator[str]:
    port = free_port()
    words = [PLURIVERSE, "openenv", env_id, "--remotes", remotes, "--http", f"127.0.0.1:{port}", *more]
    with started(words) as (_, said):
        yield said.split()[0]


@pytest.fixture(scope="module")
def pong() -> Generator[str]:
    with serving(PONG, "--clock", "lockstep", remotes="local:2") as address:
        yield address


def generic(address: str) -> SyncEnvClient[dict[str, Any], dict[str, Any], dict[str, Any]]:
    return SyncEnvClient(GenericEnvClient(base_url=address))


def play(address: str, seed: int) -> list[Any]:
    with PluriverseEnv(base_url=address).sync() as env:
        results = [env.reset(seed=seed)]
        results += [env.step(PluriverseAction(action=number % 3, frames=8)) for number in range(60)]
    return results


def test_a_training_loop_gets_pictures_and_rewards_and_the_same_again(pong: str) -> None:
    first, second = play(pong, 7), play(pong, 7)
    assert [result.observation.image for result in first] == [result.observation.image for result in second]
    assert sum(result.reward for result in first[1:]) == sum(result.reward for result in second[1:]) < 0
    assert first[-1].observation.pixels().shape == (210, 160, 3)
    assert not np.array_equal(first[0].observation.pixels(), first[-1].observation.pixels())


def test_a_step_is_small(pong: str) -> None:
    with generic(pong) as env:
        env.reset()
        result = env.step({"action": 2})
    assert len(str(result)) <= 10 * 1024


def test_actions_are_those_of_computer_use_too(pong: str) -> None:
    with PluriverseEnv(base_url=pong).sync() as env:
        env.reset(seed=1)
        held = env.step(PluriverseAction(computer={"action": "hold_key", "text": "Up", "duration": 1}))
        assert held.observation.width == 160
        where = env.step(PluriverseAction(computer={"action": "cursor_position"}))
        assert where.observation.said.startswith("X=")
        zoomed = env.step(PluriverseAction(computer={"action": "zoom", "region": [0, 0, 80, 105]}))
        assert zoomed.observation.pixels().shape == (210, 160, 3)
        state = env.state()
        assert (state.environment, state.step_count) == (PONG, 60)


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ({"action": 99}, "expected an integer of 0 to"),
        ({"computer": {"action": "fly"}}, "there is no action"),
        ({"action": 1, "computer": {"action": "wait", "duration": 1}}, "this is both"),
        ({"frames": 10**9}, "VALIDATION_ERROR"),
        ({"jump": 1}, "VALIDATION_ERROR"),
    ],
)
def test_nonsense_is_refused_in_words_and_the_session_goes_on(pong: str, action: dict[str, Any], said: str) -> None:
    with generic(pong) as env:
        env.reset()
        with pytest.raises(RuntimeError, match=said):
            env.step(action)
        assert not env.step({"action": 0}).done


def test_a_session_too_many_is_told_so(pong: str) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(2):
            env = stack.enter_context(PluriverseEnv(base_url=pong).sync())
            env.reset()
        third = stack.enter_context(connect(pong.replace("http", "ws") + "/ws"))
        assert json.loads(third.recv())["data"]["code"] == "CAPACITY_REACHED"


@pytest.mark.parametrize("env_id", [PONG, "doom.Basic-v0", "world-of-bits.ClickTest-v0"])
def test_openenvs_validator_passes_it(env_id: str) -> None:
    with serving(env_id, "--clock", "lockstep") as address:
        report = validate_running_environment(address)
        assert report["passed"], report["summary"]
        told = httpx.get(f"{address}/metadata").json()
        assert told["name"] == env_id
        assert "lockstep" in told["description"]


def test_a_folder_of_its_own_passes_the_validator(tmp_path: Path) -> None:
    folder = tmp_path / "pong"
    subprocess.run([PLURIVERSE, "openenv", PONG, "--write", str(folder)], check=True, capture_output=True)
    # What ``uv lock`` makes needs the registry.
    (folder / "uv.lock").write_text("version = 1\n")
    validator = str(Path(sys.executable).with_name("openenv"))
    validated = subprocess.run([validator, "validate", str(folder)], capture_output=True, text=True, env=os.environ)
    assert "[OK]" in validated.stdout, validated.stdout + validated.stderr
    again = subprocess.run([PLURIVERSE, "openenv", PONG, "--write", str(folder)], capture_output=True, text=True)
    assert again.returncode == 2
    assert "is not empty" in again.stderr
