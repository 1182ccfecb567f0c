from __future__ import annotations

import subprocess
import sys
from typing import Any

import docker
import pytest
from pluriverse.errors import ConfigurationError
from pluriverse.remotes.docker import OWNER, DockerRemotes, why_unavailable
from pluriverse.remotes.health import why_not_ready
from pluriverse.remotes.manager import no_progress
from pluriverse.remotes.owner import this_process

PONG = "gym-core.PongDeterministic-v3"

pytestmark = pytest.mark.container


def owned(owner: str) -> list[str]:
    client = docker.from_env()
    try:
        containers = client.containers.list(all=True, filters={"label": f"{OWNER}={owner}"}, ignore_removed=True)
        return [str(container.id) for container in containers]
    finally:
        client.close()


def logs_of(container: str) -> dict[str, Any]:
    client = docker.from_env()
    try:
        return client.containers.get(container).attrs["HostConfig"]["LogConfig"]
    finally:
        client.close()


def test_containers_are_started_replaced_and_removed() -> None:
    remotes = DockerRemotes(2, "gym-core", PONG, start_timeout_s=60.0)
    try:
        first, second = remotes.start(no_progress)
        assert why_not_ready(first) is None
        assert why_not_ready(second) is None
        before = owned(this_process())
        assert len(before) == 2
        assert logs_of(before[0]) == {"Type": "json-file", "Config": {"max-file": "3", "max-size": "10m"}}
        assert remotes.replace(1) == second
        client = docker.from_env()
        for id_ in before:
            client.containers.get(id_).kill()
        client.close()
        third = remotes.replace(0)
        assert why_not_ready(third) is None
        assert len(owned(this_process())) == 2
    finally:
        remotes.close()
    remotes.close()
    assert not owned(this_process())


CRASHER = f"""
import os, signal
from pluriverse.remotes.docker import DockerRemotes
from pluriverse.remotes.manager import no_progress
from pluriverse.remotes.owner import this_process
remotes = DockerRemotes(1, "gym-core", {PONG!r}, start_timeout_s=60.0)
remotes.start(no_progress)
print(this_process(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_removed_by_the_next() -> None:
    crashed = subprocess.run([sys.executable, "-c", CRASHER], capture_output=True, text=True, timeout=100)
    owner = crashed.stdout.strip()
    assert len(owned(owner)) == 1, crashed.stderr
    DockerRemotes(1, "gym-core", PONG, start_timeout_s=60.0).close()
    assert not owned(owner)


def test_image_that_is_not_there_is_told_with_what_builds_it() -> None:
    assert "make image RUNTIME=nonsense" in (why_unavailable("nonsense") or "")
    with pytest.raises(ConfigurationError, match="can't be started"):
        DockerRemotes(1, "nonsense", "nonsense.Game-v0", start_timeout_s=1.0)
