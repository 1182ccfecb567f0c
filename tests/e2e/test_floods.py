"""Idle connections without a password, more than there are file descriptors, and an agent that comes among them."""

from __future__ import annotations

import contextlib
import resource
import socket
import sys
from collections.abc import Generator

import psutil
import pytest
from support.agent import connected
from support.ports import free_port
from support.remotes import PASSWORD, ROOT, started
from support.rfb import RfbClient

pytestmark = [pytest.mark.slow, pytest.mark.display]

# Its episodes last: a program that is killed between two begins the next without a word.
PONG = "gym-core.PongDeterministic-v3"

DESCRIPTORS = 1024
IDLE = 1500


@pytest.fixture
def enough_descriptors() -> Generator[None]:
    """This process may have as many as it opens here."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] != resource.RLIM_INFINITY and before[1] < 4 * IDLE:
        pytest.skip(f"this process may have {before[1]} descriptors only")
    resource.setrlimit(resource.RLIMIT_NOFILE, (4 * IDLE, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.usefixtures("enough_descriptors")
async def test_idle_connections_leave_descriptors_to_agents_and_programs() -> None:
    port, vnc_port = free_port(), free_port()
    command = ["prlimit", f"--nofile={DESCRIPTORS}:{DESCRIPTORS}", sys.executable, "-m", "pluriverse_server", "run"]
    command += [str(ROOT / "runtimes" / "gym-core"), "--env", PONG, "--password", PASSWORD]
    ports = ["--vnc-port", str(vnc_port), "--rewarder-port", str(port)]
    with started([*command, *ports]) as (process, _), contextlib.ExitStack() as stack:
        daemon = psutil.Process(process.pid)
        for _ in range(IDLE):
            for each in (port, vnc_port):
                stack.enter_context(socket.create_connection(("127.0.0.1", each)))
        async with connected(port, PASSWORD) as agent:
            RfbClient("127.0.0.1", vnc_port, PASSWORD).close()
            assert daemon.num_fds() < DESCRIPTORS / 2
            await agent.reset(PONG)
            await agent.hear_method("v0.env.describe", env_state="running")
            await agent.hear_until(lambda message: message["body"].get("reward"))
            (program,) = (child for child in daemon.children(recursive=True) if "main.py" in child.cmdline())
            program.kill()
            await agent.hear_until(lambda message: "SIGKILL" in str(message["body"].get("info")))
            await agent.hear_method("v0.env.describe", env_state="running")
        assert process.poll() is None
