import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TypeAlias

import pluriverse
import psutil
import pytest
from pluriverse.env.connections import Clock
from pluriverse.errors import ConfigurationError, RemoteUnavailable
from pluriverse.remotes import health, local, parse
from pluriverse.remotes.health import why_not_ready
from pluriverse.remotes.local import FOLDER_PREFIX, OWNER_FILE, LocalEngine, LocalRemote, free_ports
from pluriverse.remotes.manager import no_progress
from pluriverse.remotes.started import StartedRemotes
from pluriverse_server.private_folder import LINK, PREFIX
from support import remotes as remotes_support
from support import sessions
from support.leftovers import Leftovers
from support.waiting import DEADLINE_S

pytestmark = pytest.mark.display

PONG = "gym-core.PongDeterministic-v3"


@pytest.fixture
def remotes(monkeypatch: pytest.MonkeyPatch) -> Generator[StartedRemotes[LocalRemote]]:
    # A place of our own: other tests' remotes come and go in the usual one. Its path is longer than a socket's may be.
    with tempfile.TemporaryDirectory(suffix="x" * 200) as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        leftovers = Leftovers()
        remotes = parse("local:2", PONG)
        assert isinstance(remotes, StartedRemotes)
        yield remotes
        remotes.close()
        remotes.close()
        leftovers.assert_none()
        links = Path("/tmp").glob(f"{PREFIX}-*/{LINK}")  # noqa: S108 - where daemons make short names
        assert not [link for link in links if link.is_symlink() and link.readlink().is_relative_to(folder)]


Daemons: TypeAlias = Callable[[], set[psutil.Process]]


@pytest.fixture
def daemons() -> Daemons:
    """Return those that a test has started: other tests share one that stays."""
    others = remotes_support.daemons()
    return lambda: remotes_support.daemons() - others


def test_remotes_are_started_kept_and_replaced(
    remotes: StartedRemotes[LocalRemote], monkeypatch: pytest.MonkeyPatch, daemons: Daemons
) -> None:
    said: list[tuple[int, str]] = []
    first, second = remotes.start(lambda index, what: said.append((index, what)))
    assert why_not_ready(first) is None
    assert why_not_ready(second) is None
    assert first.password != second.password
    assert {index for index, what in said if what.startswith("ready")} == {0, 1}
    # One that lives is where it was.
    assert remotes.replace(0) == first
    # One that died is another.
    killed = remotes_support.daemon_at(first)
    killed.kill()
    psutil.wait_procs([killed])
    third = remotes.replace(0)
    assert third != first
    assert why_not_ready(third) is None
    # So is one that is frozen: it isn't given the time in which one heals that answers.
    monkeypatch.setattr(health, "ALIVE_S", 0.2)
    monkeypatch.setattr("pluriverse.remotes.started.HEAL_S", 600.0)
    remotes_support.daemon_at(second).suspend()
    monkeypatch.setattr("pluriverse.remotes.local.STOP_S", 1.0)
    assert remotes.replace(1) != second


def test_remote_that_cannot_start_says_why(remotes: StartedRemotes[LocalRemote], daemons: Daemons) -> None:
    wrong = parse("local:1", "gym-core.Nonsense-v0")
    with pytest.raises(ConfigurationError, match=r"^unknown environment 'gym-core\.Nonsense-v0'"):
        wrong.start(no_progress)
    assert not daemons()


def test_what_a_remote_said_before_it_ended_is_repeated_without_its_password(
    remotes: StartedRemotes[LocalRemote],
) -> None:
    remote = remotes.engine.make()
    try:
        while "Ctrl-C" not in remote.output_tail():
            remote.require_running()
            time.sleep(0.01)
        remote.process.kill()
        remote.process.wait()
        with pytest.raises(RemoteUnavailable, match=r"password  \*{3}\n(?s:.*)password=\*{3}\n") as ended:
            remote.require_running()
        assert str(remote.address.password) not in str(ended.value)
    finally:
        remote.stop()


@pytest.mark.parametrize("clock", ["realtime", "lockstep"])
def test_remote_begins_in_the_clock_that_is_asked_for(clock: Clock) -> None:
    with pluriverse.make(PONG, "local:1", clock=clock, vision=False) as env:
        described = env.described(0)
        assert described is not None
        assert (described.clock or "realtime") == clock


def test_remote_has_nothing_of_the_session_but_what_it_needs(
    remotes: StartedRemotes[LocalRemote], monkeypatch: pytest.MonkeyPatch, daemons: Daemons
) -> None:
    for name, value in sessions.VARIABLES.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PLURIVERSE_PROGRAM_ENV", "SOME_LIBRARY")
    monkeypatch.setenv("SOME_LIBRARY", "here")
    remotes.start(no_progress)
    told = next(iter(daemons())).environ()
    assert (told["LANG"], told["TZ"], told["SOME_LIBRARY"]) == ("C.UTF-8", "UTC", "here")
    # It is the daemon that keeps proxies from programs without a network.
    proxies = {name for name in sessions.VARIABLES if name.lower().endswith("_proxy")}
    assert told.keys() & sessions.VARIABLES.keys() == {"LANG", "TZ", *proxies}


@pytest.mark.slow
def test_port_that_another_program_takes_first_is_replaced(
    remotes: StartedRemotes[LocalRemote], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken, offered = other.getsockname()[1], [free_ports(2) for _ in range(4)]
        offered[0][0] = offered[1][1] = taken
        unlucky = {*offered[0], *offered[1]}

        def offer(_count: int, _host: str) -> list[int]:
            return offered.pop(0)

        monkeypatch.setattr(local, "free_ports", offer)
        addresses = remotes.start(no_progress)
        assert not {address.rewarder_port for address in addresses} & unlucky
        assert not offered


def test_mistake_is_told_though_other_remotes_are_still_starting(
    remotes: StartedRemotes[LocalRemote], monkeypatch: pytest.MonkeyPatch, daemons: Daemons
) -> None:
    # The first is frozen as soon as it has begun, so that it is never ready; the second can't begin.
    engine = remotes.engine
    assert isinstance(engine, LocalEngine)
    fork = engine._fork  # pyright: ignore[reportPrivateUsage]
    begun: list[LocalRemote] = []

    def one_frozen_one_refused() -> LocalRemote:
        if begun:
            raise RemoteUnavailable("the second can't begin")
        begun.append(fork())
        os.kill(begun[0].process.pid, signal.SIGSTOP)
        return begun[0]

    monkeypatch.setattr(engine, "_fork", one_frozen_one_refused)
    monkeypatch.setattr(local, "STOP_S", 0.5)
    began = time.monotonic()
    with pytest.raises(RemoteUnavailable, match="the second can't begin"):
        remotes.start(no_progress)
    assert time.monotonic() - began < 4.0
    assert not daemons()


INTERRUPTED = f"""
import os, signal, threading, time
import pluriverse
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
pressed = time.monotonic() + 0.5
try:
    pluriverse.make({PONG!r}, "local:8")
except KeyboardInterrupt:
    print(time.monotonic() - pressed)
"""


def test_ctrl_c_while_remotes_start_is_answered_at_once_and_leaves_nothing() -> None:
    leftovers = Leftovers()
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TMPDIR": folder}
        command = [sys.executable, "-c", INTERRUPTED]
        interrupted = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
        assert interrupted.returncode == 0, interrupted.stderr
        # Eight that end take a while on a busy machine.
        assert float(interrupted.stdout) < 20
        assert not list(Path(folder).glob(f"{FOLDER_PREFIX}*"))
    leftovers.assert_none()


STARTER = f"""
import sys, threading
from pluriverse.remotes import parse
from pluriverse.remotes.manager import no_progress
remotes = parse("local:1", {PONG!r})
# From a thread that ends: the remote must not end with it.
thread = threading.Thread(target=lambda: print(*remotes.start(no_progress), flush=True))
thread.start()
thread.join()
sys.stdin.read()
"""


def test_remotes_die_with_the_process_that_started_them() -> None:
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert starter.stdout is not None
    assert starter.stdout.readline().startswith("127.0.0.1:")
    children = psutil.Process(starter.pid).children(recursive=True)
    assert any("Xvfb" in child.name() for child in children)
    starter.kill()
    starter.wait()
    _, alive = psutil.wait_procs(children, DEADLINE_S)
    assert not [child for child in alive if child.status() != psutil.STATUS_ZOMBIE]
    starter.communicate()
    # Its folder goes with the next start.
    parse("local:1", PONG).close()
    assert not [
        folder
        for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*")
        if f":{starter.pid}:" in (folder / OWNER_FILE).read_text()
    ]
