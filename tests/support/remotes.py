"""Remotes to test against from end to end: as processes of this machine, or in a container."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
import docker.errors
import psutil
from docker.models.containers import Container
from pluriverse.remotes.address import Address
from pluriverse_protocol.child_process import dying_with_parent
from support.ports import free_port
from support.process_tree import children

ROOT = Path(__file__).parents[2]
IMAGES = "pluriverse/"
IMAGE = IMAGES + "gym-core"
PASSWORD = "e2e-pass"
START_DEADLINE_S = 300.0

# The kernel ends children with the thread that forked them, and tests start remotes in threads that don't stay.
FORKER = ThreadPoolExecutor(1)

# What the README promises that a remote can be run with.
HARDENED: dict[str, Any] = {
    "read_only": True,
    "tmpfs": {"/tmp": ""},  # noqa: S108 - in the container
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges:true"],
}


@dataclass
class Listening:
    """Where a remote listens on this machine."""

    port: int
    vnc_port: int
    password: str

    @property
    def address(self) -> str:
        """What agents name it by."""
        return f"vnc://127.0.0.1:{self.vnc_port}+{self.port}?password={self.password}"


@dataclass
class MachineRemote(Listening):
    process: subprocess.Popen[str]
    said: str = ""

    @property
    def one_port(self) -> str:
        """The address of its one port, as it was printed."""
        return next(word for word in self.said.split() if word.startswith(("pluriverse:", "pluriverses:")))


@dataclass
class ContainerRemote(Listening):
    container: Container


@contextlib.contextmanager
def on_machine(
    *options: str, runtime: str = "gym-core", password: str = PASSWORD, env: dict[str, str] | None = None
) -> Generator[MachineRemote]:
    """Run a runtime with the command, until the end of the context; ``env`` is all of its environment."""
    port, vnc_port = free_port(), free_port()
    # The daemon itself takes no heed of Python's variables; what it starts mustn't see them.
    command = [sys.executable, "-I", "-m", "pluriverse_server", "run", str(ROOT / "runtimes" / runtime)]
    ports = ["--vnc-port", str(vnc_port), "--rewarder-port", str(port)]
    with started([*command, *ports, "--password", password, *options], env) as (process, said):
        yield MachineRemote(port, vnc_port, password, process, said)


@contextlib.contextmanager
def started(command: list[str], env: dict[str, str] | None = None) -> Generator[tuple[subprocess.Popen[str], str]]:
    """Run a command that runs a remote; the context begins when it has said how to connect, with what it said.

    Where the test is killed before its end, so is the remote.
    """
    process = FORKER.submit(
        subprocess.Popen[str],
        dying_with_parent(command, signal.SIGTERM),
        cwd=ROOT,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ).result()
    assert process.stdout is not None
    said: list[str] = []
    greeted = threading.Event()

    def listen(lines: Any) -> None:
        for line in lines:
            said.append(line)
            if "Ctrl-C" in line:
                greeted.set()
        greeted.set()

    listener = threading.Thread(target=listen, args=(process.stdout,), daemon=True)
    listener.start()
    try:
        assert greeted.wait(START_DEADLINE_S), "".join(said)
        assert process.poll() is None, "".join(said)
        yield process, "".join(said)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)
        listener.join(60)
        process.stdout.close()


@contextlib.contextmanager
def in_container(
    env_id: str = "", *, runtime: str = "gym-core", limits: dict[str, Any] = HARDENED, **more: Any
) -> Generator[ContainerRemote]:
    """Run a runtime's image, hardened if not told otherwise, until the end of the context."""
    client = docker.from_env()
    options: dict[str, Any] = {
        "name": f"pluriverse-test-{uuid.uuid4().hex[:8]}",
        "environment": {"PLURIVERSE_PASSWORD": PASSWORD, "PLURIVERSE_ENV": env_id},
        "ports": {"5900/tcp": ("127.0.0.1", None), "15900/tcp": ("127.0.0.1", None)},
    }
    container = client.containers.run(IMAGES + runtime, detach=True, **options, **limits, **more)
    try:
        port, vnc_port = published(container, 15900), published(container, 5900)
        wait_for_greeting(container)
        yield ContainerRemote(port, vnc_port, PASSWORD, container)
    finally:
        container.remove(force=True, v=True)
        client.close()


def published(container: Container, port: int) -> int:
    container.reload()
    bindings = container.ports[f"{port}/tcp"]
    assert bindings, f"port {port} is not published"
    return int(bindings[0]["HostPort"])


def wait_for_greeting(container: Container) -> str:
    """Wait until the remote in a container has said how to connect; returns what it said."""
    deadline = time.monotonic() + START_DEADLINE_S
    while time.monotonic() < deadline:
        said = container.logs().decode()
        if "Ctrl-C" in said:
            return said
        container.reload()
        assert container.status in ("created", "running"), said
        time.sleep(0.02)
    raise TimeoutError(container.logs().decode())


def engine_has_image(runtime: str = "gym-core") -> bool:
    """Whether a Docker engine answers and has a runtime's image."""
    try:
        client = docker.from_env()
        client.images.get(IMAGES + runtime)
    except docker.errors.DockerException:
        return False
    client.close()
    return True


def daemons() -> set[psutil.Process]:
    """Those of the remotes that this process started, directly or not."""
    return set(children("-m pluriverse_server run"))


def daemon_at(address: Address) -> psutil.Process:
    """That of them which listens at ``address``. What it started dies with it."""
    return next(daemon for daemon in daemons() if str(address.rewarder_port) in daemon.cmdline())


def find(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    assert match, text
    return match[1]
