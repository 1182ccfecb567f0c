from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import psutil
import pytest
from pluriverse.errors import RemoteUnavailable
from pluriverse.remotes import health
from pluriverse.remotes.health import why_not_ready
from pluriverse.remotes.local import FOLDER_PREFIX, OWNER_FILE, LocalRemotes, free_ports
from pluriverse.remotes.manager import no_progress
from support.leftovers import Leftovers
from support.waiting import DEADLINE_S

PONG = "gym-core.PongDeterministic-v3"


@pytest.fixture
def remotes(monkeypatch: pytest.MonkeyPatch) -> Generator[LocalRemotes]:
    # A place of our own: other tests' remotes come and go in the usual one. Sockets in it allow but a short name.
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        leftovers = Leftovers()
        remotes = LocalRemotes(2, "gym-core", PONG, start_timeout_s=60.0)
        yield remotes
        remotes.close()
        remotes.close()
        leftovers.assert_none()


def daemons() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "pluriverse_server" in child.cmdline()]


def test_remotes_are_started_kept_and_replaced(remotes: LocalRemotes, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[int, str]] = []
    first, second = remotes.start(lambda index, what: said.append((index, what)))
    assert why_not_ready(first) is None
    assert why_not_ready(second) is None
    assert first.password != second.password
    assert {index for index, what in said if what.startswith("ready")} == {0, 1}
    # One that lives is where it was.
    assert remotes.replace(0) == first
    # One that died is another.
    killed = next(daemon for daemon in daemons() if str(first.rewarder_port) in daemon.cmdline())
    killed.kill()
    psutil.wait_procs([killed])
    third = remotes.replace(0)
    assert third != first
    assert why_not_ready(third) is None
    # So is one that is frozen.
    monkeypatch.setattr(health, "ANSWER_S", 0.2)
    monkeypatch.setattr("pluriverse.remotes.manager.HEAL_S", 0.5)
    frozen = next(daemon for daemon in daemons() if str(second.rewarder_port) in daemon.cmdline())
    os.kill(frozen.pid, signal.SIGSTOP)
    monkeypatch.setattr("pluriverse.remotes.local.STOP_S", 1.0)
    assert remotes.replace(1) != second


def test_remote_that_cannot_start_says_why(remotes: LocalRemotes) -> None:
    wrong = LocalRemotes(1, "gym-core", "gym-core.Nonsense-v0", start_timeout_s=30.0)
    with pytest.raises(RemoteUnavailable, match=r"has no environment 'gym-core\.Nonsense-v0'"):
        wrong.start(no_progress)
    assert not daemons()


def test_ports_are_free_and_different() -> None:
    assert len(set(free_ports(20))) == 20


STARTER = f"""
import sys, threading
from pluriverse.remotes.local import LocalRemotes
from pluriverse.remotes.manager import no_progress
remotes = LocalRemotes(1, "gym-core", {PONG!r}, start_timeout_s=60.0)
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
    LocalRemotes(1, "gym-core", PONG, start_timeout_s=60.0).close()
    assert not [
        folder
        for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*")
        if f":{starter.pid}:" in (folder / OWNER_FILE).read_text()
    ]
