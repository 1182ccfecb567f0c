import contextlib
import signal
import subprocess
import sys
from collections.abc import Generator

import docker
import pytest
from pluriverse.errors import ConfigurationError, RemoteUnavailable
from pluriverse.remotes import parse
from pluriverse.remotes.docker import OWNER, why_unavailable
from pluriverse.remotes.health import why_not_ready
from pluriverse.remotes.manager import no_progress
from pluriverse.remotes.owner import this_process
from support.waiting import until

PONG = "gym-core.PongDeterministic-v3"

pytestmark = pytest.mark.container


def owned(owner: str) -> list[str]:
    with contextlib.closing(docker.from_env()) as client:
        containers = client.containers.list(all=True, filters={"label": f"{OWNER}={owner}"}, ignore_removed=True)
        return [str(container.id) for container in containers]


def test_containers_are_started_replaced_and_removed() -> None:
    remotes = parse("docker:2?memory=2Gi&cpu=1.5", PONG)
    with contextlib.closing(remotes), contextlib.closing(docker.from_env()) as client:
        first, second = remotes.start(no_progress)
        assert why_not_ready(first) is None
        assert why_not_ready(second) is None
        before = owned(this_process())
        assert len(before) == 2
        containers = [client.containers.get(id_) for id_ in before]
        config = containers[0].attrs["HostConfig"]
        assert config["LogConfig"] == {"Type": "json-file", "Config": {"max-file": "3", "max-size": "10m"}}
        assert (config["Memory"], config["NanoCpus"]) == (2 * 1024**3, 1_500_000_000)
        assert remotes.replace(1) == second
        for container in containers:
            container.kill()
        third = remotes.replace(0)
        assert why_not_ready(third) is None
        # The other that was killed is gone, and nobody asked for another one.
        assert len(owned(this_process())) == 1
    remotes.close()
    assert not owned(this_process())


OWNING = f"""
import os, sys
from pluriverse.remotes import parse
from pluriverse.remotes.manager import no_progress
from pluriverse.remotes.owner import this_process
remotes = parse("docker:1", {PONG!r})
print(this_process(), *remotes.start(no_progress), flush=True)
# A copy of everything in a process that lives longer.
if os.fork() == 0:
    sys.stdin.read()
    os._exit(0)
os.wait()
"""


@contextlib.contextmanager
def owning() -> Generator[tuple[subprocess.Popen[str], str]]:
    """A process that has started a container; what its owner is called."""
    process = subprocess.Popen([sys.executable, "-c", OWNING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        owner = process.stdout.readline().split()[0]
        assert len(owned(owner)) == 1
        yield process, owner
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM])
def test_containers_end_by_themselves_with_their_process(signum: signal.Signals) -> None:
    with owning() as (process, owner):
        process.send_signal(signum)
        until(lambda: not owned(owner))


def test_containers_of_a_process_that_is_only_stopped_go_on() -> None:
    with owning() as (process, owner):
        process.send_signal(signal.SIGSTOP)
        with pytest.raises(AssertionError):
            until(lambda: not owned(owner), deadline_s=2.0)
        process.send_signal(signal.SIGCONT)
        assert len(owned(owner)) == 1


def test_container_that_hangs_is_removed_when_the_next_process_starts_some() -> None:
    with owning() as (process, owner), contextlib.closing(docker.from_env()) as client:
        (id_,) = owned(owner)
        client.containers.get(id_).pause()
        process.kill()
        process.wait()
        assert owned(owner)
        parse("docker:1", PONG).close()
        assert not owned(owner)


def test_container_that_cannot_start_its_environment_says_why() -> None:
    remotes = parse("docker:1", "gym-core.Nonsense-v0")
    with pytest.raises(RemoteUnavailable, match=r"unknown environment 'gym-core\.Nonsense-v0'"):
        remotes.start(no_progress)
    # The engine removes what has ended by itself, in its own time.
    until(lambda: not owned(this_process()))


def test_image_that_is_not_there_is_told_with_what_builds_it() -> None:
    assert "pluriverse-server build runtimes/nonsense" in (why_unavailable("nonsense") or "")
    with pytest.raises(ConfigurationError, match="can't be started"):
        parse("docker:1", "nonsense.Game-v0")
    with pytest.raises(ConfigurationError, match="docker pull example/nothing"):
        parse("docker:1?image=example/nothing", PONG)
