"""Remotes as one EnvPool: who comes first, what is refused, and what becomes of a remote that is lost."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import numpy as np
import psutil
import pytest
from pluriverse.adapters import envpool
from pluriverse.errors import Misuse
from support.remotes import kill_remote

pytestmark = pytest.mark.display


@pytest.fixture(scope="module")
def pong() -> Generator[Any]:
    """Three games of which two are waited for."""
    env = envpool.make_gymnasium("Pong-v5", num_envs=3, batch_size=2, remotes="local:3", noop_max=0, frame_skip=1)
    yield env
    env.close()


@pytest.fixture
def begun(pong: Any) -> Any:
    """All of them asked for, and handed out."""
    pong.async_reset()
    idle = [*pong.recv()[4]["env_id"]]
    # Two more are waited for than the one that is left: one of the first two goes on.
    pong.send(np.zeros(1), np.array(idle[:1]))
    pong.recv()
    return pong


def test_recv_hands_out_whoever_answers_first(begun: Any) -> None:
    program = next(each for each in _processes(begun, 2) if "main.py" in each.cmdline())
    program.suspend()
    try:
        for _ in range(2):  # whatever it had drawn before
            assert sorted(begun.step(np.zeros(2), np.array([2, 0]))[4]["env_id"]) == [0, 2]
        begun.send(np.zeros(3), np.array([2, 1, 0]))
        assert sorted(begun.recv()[4]["env_id"]) == [0, 1]
    finally:
        program.resume()
    begun.send(np.zeros(1), np.array([0]))
    assert sorted(begun.recv()[4]["env_id"]) == [0, 2]


def test_nobody_starves(begun: Any) -> None:
    begun.send(np.zeros(3), np.array([0, 1, 2]))
    seen: list[int] = []
    for _ in range(40):
        indices = begun.recv()[4]["env_id"]
        seen += indices.tolist()
        begun.send(np.zeros(2), indices)
    assert min(seen.count(index) for index in range(3)) > 10
    begun.recv()


def test_what_was_received_is_never_written_to_again(begun: Any) -> None:
    kept: list[tuple[Any, Any]] = []
    indices = np.array([0, 1])
    for step in range(12):
        observations, rewards, _, _, info = begun.step(np.full(2, 2 + step % 2), indices)
        indices = info["env_id"]
        kept += [(array, array.copy()) for array in (observations, rewards, indices)]
    assert all(np.array_equal(array, copy) for array, copy in kept)


def test_second_send_before_it_was_received_is_refused_and_sends_nothing(begun: Any) -> None:
    begun.send(np.zeros(1), np.array([1]))
    with pytest.raises(Misuse, match=r"environments \[1\] have not been received"):
        begun.send(np.zeros(2), np.array([0, 1]))
    begun.send(np.zeros(1), np.array([0]))
    assert sorted(begun.recv()[4]["env_id"]) == [0, 1]


def test_episodes_of_one_seed_begin_alike() -> None:
    env = envpool.make_gymnasium("gym-core.MiniGrid-FourRooms-v0", remotes="local:3", seed=[5, 5, 6])
    first = env.reset()[0]
    env.close()
    assert np.array_equal(first[0], first[1])
    assert not np.array_equal(first[0], first[2])


def test_lost_remote_truncates_its_own_episode_and_keeps_nobody_waiting() -> None:
    env = envpool.make_gymnasium("Pong-v5", num_envs=3, batch_size=2, remotes="local:3", noop_max=0)
    try:
        env.async_reset()
        indices = env.recv()[4]["env_id"]
        # What is lost before it was ever seen is nobody's episode.
        while 0 not in indices:
            env.send(np.zeros(len(indices)), indices)
            indices = env.recv()[4]["env_id"]
        kill_remote(env.core.env.addresses[0])
        others = lost = 0
        while not (lost and others >= 20):
            env.send(np.zeros(len(indices)), indices)
            _, _, terminated, truncated, info = env.recv()
            indices = info["env_id"]
            for position, index in enumerate(indices.tolist()):
                if info["pluriverse"]["lost"][position]:
                    assert index == 0
                    assert truncated[position]
                    assert not terminated[position]
                    lost += 1
                elif index:
                    assert not truncated[position]
                    others += lost
        assert lost == 1
        back = -1
        while back < 2:
            env.send(np.zeros(len(indices)), indices)
            info = env.recv()[4]
            indices = info["env_id"]
            if 0 in indices:
                back = info["elapsed_step"][indices.tolist().index(0)]
    finally:
        env.close()


def _processes(env: Any, index: int) -> list[psutil.Process]:
    """The server of a remote, and what it started."""
    port = str(env.core.env.addresses[index].rewarder_port)
    for process in psutil.Process(os.getpid()).children(recursive=True):
        command = process.cmdline()
        if "pluriverse_server" in " ".join(command) and port in command:
            return [process, *process.children(recursive=True)]
    raise AssertionError("no remote listens on that port")


def test_lost_life_ends_the_agents_episode_and_the_game_goes_on() -> None:
    env: Any = envpool.make_gymnasium("Breakout-v5", num_envs=1, remotes="local:1", episodic_life=True, noop_max=1)
    try:
        _, info = env.reset()
        assert info["lives"].tolist() == [5]
        terminated, fire = np.array([False]), np.array([1], np.int32)
        # Nobody catches the ball, which the fire button serves.
        while not terminated[0]:
            _, _, terminated, truncated, info = env.step(fire)
            assert not truncated[0]
        assert info["lives"].tolist() == [4]
        elapsed = int(info["elapsed_step"][0])
        _, reward, terminated, _, info = env.step(fire)
        assert (reward[0], terminated[0], info["lives"].tolist()) == (0, False, [4])
        assert int(info["elapsed_step"][0]) >= elapsed
    finally:
        env.close()


def test_game_whose_every_action_is_a_move_opens_with_no_ops() -> None:
    env: Any = envpool.make_gymnasium("Backgammon-v5", remotes="local:1")
    try:
        _, info = env.reset()
        assert env.spec.config.noop_max == 30
        assert info["elapsed_step"].tolist() == [0]
    finally:
        env.close()
