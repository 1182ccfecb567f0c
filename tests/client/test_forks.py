"""A forked child and its parent's environments: a clear error at once in each call, and no harm to the parent."""

import asyncio
import contextlib
import gzip
import os
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pluriverse
import pytest
from pluriverse import forks
from pluriverse.adapters import alf, dm_env, envpool
from pluriverse.adapters.computer import AsyncComputer, Computer, Look, Press
from pluriverse.adapters.gymnasium import PluriverseEnv, PluriverseVectorEnv
from pluriverse.errors import Misuse
from pluriverse.remotes import parse
from pluriverse.remotes.health import why_not_ready
from pluriverse.remotes.manager import no_progress
from pluriverse.vnc import VncOptions
from pluriverse.wrappers import Joint

pytestmark = [pytest.mark.display, pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")]

POLE: Final = "gym-core.CartPole-v0"
NO_MORE_S: Final = 60


def in_a_child(*calls: Callable[[], Any]) -> None:
    """Check that each call is refused in a forked child, and wait for its end."""
    child = os.fork()
    if child == 0:
        signal.alarm(NO_MORE_S)
        try:
            for call in calls:
                with pytest.raises(Misuse, match=r"of which this one is a fork.*make another one in the process"):
                    call()
        except BaseException:  # noqa: BLE001 - nothing of pytest's goes on in the child
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def in_a_child_quietly(call: Callable[[], Any]) -> None:
    """Check that a forked child may make a call."""

    def refused() -> None:
        call()
        raise Misuse("it did: of which this one is a fork, make another one in the process")

    in_a_child(refused)


def universe(address: str) -> tuple[Any, list[Callable[[], Any]]]:
    env = pluriverse.make(POLE, address)
    calls: list[Callable[[], Any]] = [
        env.reset,
        lambda: env.step([[]]),
        lambda: env.poll([]),
        lambda: env.wait(60.0),
        lambda: env.changed([0], 60.0),
        lambda: env.render("rgb_array"),
        lambda: env.reset_one(0),
        lambda: env.seed(1),
        lambda: env.release(0),
        lambda: env.described(0),
        lambda: env.tree(0),
        lambda: env.open_screens(VncOptions()),
        env.close_screens,
        lambda: env.open_viewer(0),
        lambda: env.open_step_channel(0),
        env.ask,
    ]
    return env, calls


def gymnasium(address: str) -> tuple[Any, list[Callable[[], Any]]]:
    env = PluriverseEnv(POLE, remotes=address, render_mode="rgb_array", clock="lockstep")
    env.reset(seed=1)
    snapshot = env.snapshot()
    calls: list[Callable[[], Any]] = [env.reset, lambda: env.step(0), env.render, env.snapshot]
    calls += [lambda: env.restore(snapshot), lambda: list(env.replay([0], 1)), lambda: env.fork(1)]
    return env, calls


def vector(address: str) -> tuple[Any, list[Callable[[], Any]]]:
    env = PluriverseVectorEnv(POLE, num_envs=1, remotes=address, render_mode="rgb_array")
    return env, [env.reset, lambda: env.step(np.array([0])), env.render]


def of_dm(address: str) -> tuple[Any, list[Callable[[], Any]]]:
    env = dm_env.load(POLE, address)
    return env, [env.reset, lambda: env.step(0)]


def of_envpool(address: str) -> tuple[Any, list[Callable[[], Any]]]:
    env = envpool.make_gymnasium(POLE, num_envs=1, remotes=address)
    action = np.array([0])
    calls = [env.reset, partial(env.step, action), partial(env.send, action), env.recv, env.async_reset]
    return env, calls


def of_alf(address: str) -> tuple[Any, list[Callable[[], Any]]]:
    env = alf.PluriverseAlfEnvironment(POLE, address)
    return env, [env.reset, lambda: env.step(np.array([0])), env.render, env.get_info]


class _Opened:
    """An asynchronous computer that is opened and closed as others are."""

    def __init__(self, address: str) -> None:
        self.asynchronous = AsyncComputer(POLE, address, clock="lockstep")
        asyncio.run(self.asynchronous.__aenter__())

    def close(self) -> None:
        asyncio.run(self.asynchronous.__aexit__())


def async_computer(address: str) -> tuple[Any, list[Callable[[], Any]]]:
    env = _Opened(address)
    begin, end = env.asynchronous.begin, env.asynchronous.__aexit__
    return env, [lambda: asyncio.run(begin()), lambda: asyncio.run(env.asynchronous.look()), lambda: asyncio.run(end())]


def computer(address: str) -> tuple[Any, list[Callable[[], Any]]]:
    env = Computer(POLE, address, clock="lockstep")
    calls: list[Callable[[], Any]] = [
        env.begin,
        lambda: env.do(Press((ord("x"),))),
        lambda: env.do_all([Look]),
        lambda: env.act_for([], 20.0),
        lambda: env.act(0),
        lambda: env.send([]),
        env.look,
        env.tree,
        env.pixels,
        env.seen,
        env.status,
        env.standing,
    ]
    return env, calls


MADE: Final[dict[str, Callable[[str], tuple[Any, list[Callable[[], Any]]]]]] = {
    "universe": universe,
    "gymnasium": gymnasium,
    "vector": vector,
    "dm_env": of_dm,
    "envpool": of_envpool,
    "alf": of_alf,
    "computer": computer,
    "async computer": async_computer,
}


@pytest.mark.parametrize("interface", MADE)
def test_every_call_of_a_child_is_refused_at_once_and_the_parent_goes_on(interface: str, address: str) -> None:
    env, calls = MADE[interface](address)
    with contextlib.closing(env):
        begin, step = calls[0], calls[1]
        begin()
        in_a_child(*calls)
        in_a_child_quietly(env.close)
        step()
        begin()
        step()


@pytest.mark.slow
def test_a_child_that_ends_as_programs_do_takes_nothing_of_its_parent_along(tmp_path: Path) -> None:
    script = f"""
import gzip, os, sys, warnings
warnings.simplefilter("ignore")
from pluriverse.adapters.gymnasium import PluriverseEnv
from pluriverse.remotes import share
with share("local:1", {POLE!r}) as shared:
    env = PluriverseEnv({POLE!r}, remotes=shared.url, clock="lockstep", record={os.fspath(tmp_path / "run")!r})
    env.reset(seed=1)
    env.step(0)
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0
        for _ in range(3):
            env.step(0)
        env.reset(seed=2)
        print("went on")
    env.close()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.returncode) == ("went on\n", 0), done.stderr
    with gzip.open(tmp_path / "run") as file:
        assert len(file.readlines()) == 1 + 2 + 4


def test_the_end_of_a_connection_is_heard_though_a_child_lives(tmp_path: Path) -> None:
    ours, theirs = (forks.keep(each) for each in socket.socketpair())
    file = forks.keep((tmp_path / "file").open("wb"))
    file.write(b"parent")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writing)
        file.close()  # flushes
        os.read(reading, 1)
        os._exit(0)
    try:
        ours.close()
        theirs.settimeout(NO_MORE_S)
        assert theirs.recv(1) == b""
    finally:
        os.close(writing)
        os.waitpid(child, 0)
        os.close(reading)
    file.close()
    theirs.close()
    assert (tmp_path / "file").read_bytes() == b"parent"


def test_joined_environments_are_the_parents(address: str) -> None:
    with Joint([pluriverse.make(POLE, address)]) as env:
        env.reset()
        in_a_child(env.reset, lambda: env.step([[]]), lambda: env.wait(60.0))
        in_a_child_quietly(env.close)
        env.step([[]])


def test_started_remotes_in_a_child_start_and_stop_nothing() -> None:
    remotes = parse("local:1", POLE)
    (address,) = remotes.start(no_progress)
    in_a_child(lambda: remotes.replace(0))
    in_a_child_quietly(remotes.close)
    assert why_not_ready(address) is None
    remotes.close()
