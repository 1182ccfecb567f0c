"""A Docker Swarm of two engines, each on a machine of its own as far as its network goes: a network namespace."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from support.remotes import IMAGE, ROOT

STACK: Final = "pluriverse"
SERVICE: Final = f"{STACK}_remote"
PASSWORD: Final = "swarm-pass"

# On a machine that does other things beside.
DEADLINE_S: Final = 120.0
LOOK_S: Final = 0.2


class Node:
    """One engine. ``line``: that joins it to the others, by its namespace and name."""

    def __init__(self, host: str, line: tuple[str, str], socket: Path) -> None:
        self.host = host
        self.url = f"unix://{socket}"
        self._line = line

    @contextlib.contextmanager
    def cut_off(self) -> Generator[None]:
        """Let nothing through to it, or from it."""
        namespace, port = self._line
        ip("-n", namespace, "link", "set", port, "down")
        try:
            yield
        finally:
            ip("-n", namespace, "link", "set", port, "up")

    def docker(self, *words: str, environment: Mapping[str, str] | None = None) -> str:
        """Run the docker command against it, and return what it prints."""
        command = ["docker", "--host", self.url, *words]
        given = None if environment is None else {**os.environ, **environment}
        done = subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, timeout=DEADLINE_S)
        assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
        return done.stdout.strip()

    @property
    def id(self) -> str:
        """Its name in the swarm."""
        return self.docker("info", "--format", "{{.Swarm.NodeID}}")

    def containers(self, service: str | None = None) -> set[str]:
        """The ids of the containers that run on it, or of those of a service."""
        chosen = () if service is None else ("--filter", f"label=com.docker.swarm.service.name={service}")
        return set(self.docker("ps", "--quiet", "--no-trunc", *chosen).split())


@dataclass(frozen=True)
class Swarm:
    """Two nodes, and what can be asked of their swarm."""

    manager: Node
    worker: Node

    def deploy(self, replicas: int) -> None:
        """Deploy the compose file, and wait until its remotes run."""
        self.manager.docker(
            "stack",
            "deploy",
            "--detach=true",
            "--compose-file",
            "docker-compose.yml",
            STACK,
            environment={"N": str(replicas), "PLURIVERSE_PASSWORD": PASSWORD},
        )
        self.until(lambda: len(self.running(SERVICE)) == replicas)

    def remove(self) -> None:
        """Remove everything that runs on it; networks stay, since Swarm takes its time to let go of them."""
        if services := self.services():
            self.manager.docker("service", "rm", *services)
        self.until(lambda: not self.manager.containers() | self.worker.containers())

    def services(self) -> set[str]:
        """The names of all services."""
        return set(self.manager.docker("service", "ls", "--format", "{{.Name}}").split())

    def running(self, service: str) -> set[str]:
        """The ids of a service's tasks that run."""
        listed = self.manager.docker("service", "ps", "--no-trunc", "--format", "{{json .}}", service)
        tasks: list[dict[str, Any]] = [json.loads(line) for line in listed.splitlines()]
        return {
            task["ID"]
            for task in tasks
            if task["DesiredState"] == "Running" and task["CurrentState"].startswith("Running")
        }

    def drain(self, node: Node) -> None:
        """Take a node out of use."""
        self.manager.docker("node", "update", "--availability", "drain", node.id)

    def activate(self, node: Node) -> None:
        """Take a node back into use."""
        self.manager.docker("node", "update", "--availability", "active", node.id)

    def is_there(self, node: Node) -> bool:
        """Whether the manager hears of a node."""
        return self.manager.docker("node", "inspect", "--format", "{{.Status.State}}", node.id) == "ready"

    @staticmethod
    def until(condition: Callable[[], object]) -> None:
        """Return once ``condition`` holds, or fail."""
        deadline = time.monotonic() + DEADLINE_S
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(LOOK_S)


def why_not_here() -> str | None:
    """Return why no swarm of two engines can be started here; None if it can."""
    if os.geteuid() != 0:
        return "network namespaces and engines of their own need root"
    missing = [name for name in ("dockerd", "ip", "nsenter", "iptables") if shutil.which(name) is None]
    if missing:
        return f"there is no {', '.join(missing)}: apt-get install docker.io iproute2 util-linux iptables"
    name = f"pv{os.getpid()}"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode != 0:
        return "the kernel lets nobody make network namespaces"
    ip("netns", "delete", name)
    return None


@contextlib.contextmanager
def swarm_of_two() -> Generator[Swarm]:
    """Start two engines that have the image and are a swarm; everything is gone afterwards."""
    with contextlib.ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="swarm-"))
        stack.callback(remove_tree, folder)
        # Another run may have a swarm of its own, on the same machine.
        number = os.getpid() % 250
        places = stack.enter_context(joined_namespaces(f"pv{os.getpid()}", f"10.213.{number}"))
        nodes = [stack.enter_context(engine(folder / place.host, place)) for place in places]
        load_image(nodes)
        manager, worker = nodes
        manager.docker("swarm", "init", "--advertise-addr", manager.host)
        token = manager.docker("swarm", "join-token", "--quiet", "worker")
        worker.docker("swarm", "join", "--token", token, f"{manager.host}:2377")
        # An engine that is in none stops at once.
        for node in nodes:
            stack.callback(node.docker, "swarm", "leave", "--force")
        swarm = Swarm(manager, worker)
        stack.callback(swarm.remove)
        yield swarm


@dataclass(frozen=True)
class Place:
    """A network namespace, its address, and the line that joins it to the others, by its namespace and name."""

    namespace: str
    host: str
    line: tuple[str, str]


@contextlib.contextmanager
def joined_namespaces(name: str, network: str) -> Generator[list[Place]]:
    """Two network namespaces and this machine on one switch.

    The switch is a bridge in a third one: in this machine's own the rules of its Docker engine would hold up what goes
    from one to the other. There is no way further, so that nobody waits for registries.
    """
    switch = f"{name}s"
    places = [Place(f"{name}n{index}", f"{network}.{index}", (switch, f"port{index}")) for index in (1, 2)]
    with contextlib.ExitStack() as stack:
        for namespace in (switch, *(place.namespace for place in places)):
            ip("netns", "add", namespace)
            stack.callback(ip, "netns", "delete", namespace)
            ip("-n", namespace, "link", "set", "lo", "up")
        ip("-n", switch, "link", "add", "bridge", "type", "bridge")
        ip("-n", switch, "link", "set", "bridge", "up")
        # This machine's end; with the switch the other one goes, too.
        ip("link", "add", f"{name}h", "type", "veth", "peer", "name", "host", "netns", switch)
        ip("-n", switch, "link", "set", "host", "master", "bridge", "up")
        ip("address", "add", f"{network}.254/24", "dev", f"{name}h")
        ip("link", "set", f"{name}h", "up")
        for place in places:
            port, inside = place.line[1], place.namespace
            ip("-n", inside, "link", "add", "eth0", "type", "veth", "peer", "name", port, "netns", switch)
            ip("-n", switch, "link", "set", port, "master", "bridge", "up")
            ip("-n", inside, "address", "add", f"{place.host}/24", "dev", "eth0")
            ip("-n", inside, "link", "set", "eth0", "up")
        yield places


@contextlib.contextmanager
def engine(folder: Path, place: Place) -> Generator[Node]:
    """A Docker engine with its own data, in a network namespace."""
    folder.mkdir()
    node = Node(place.host, place.line, folder / "socket")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                *("nsenter", f"--net=/run/netns/{place.namespace}", "dockerd"),
                *("--data-root", folder / "data", "--exec-root", folder / "exec", "--pidfile", folder / "pid"),
                # Were there a containerd of the machine's, all engines would share it.
                *("--containerd-namespace", place.namespace, "--containerd-plugins-namespace", f"{place.namespace}p"),
                *("--host", node.url),
            ],
            stdout=log,
            stderr=log,
        )
    try:
        deadline = time.monotonic() + DEADLINE_S
        while subprocess.run(["docker", "--host", node.url, "info"], capture_output=True).returncode != 0:
            assert process.poll() is None, (folder / "log").read_text()[-2000:]
            assert time.monotonic() < deadline, (folder / "log").read_text()[-2000:]
            time.sleep(LOOK_S)
        yield node
    finally:
        process.terminate()
        try:
            process.wait(DEADLINE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def load_image(nodes: list[Node]) -> None:
    """Copy gym-core's image from this machine's engine."""
    with contextlib.ExitStack() as stack:
        saving = stack.enter_context(subprocess.Popen(["docker", "save", IMAGE], stdout=subprocess.PIPE))
        loading = [
            stack.enter_context(
                subprocess.Popen(
                    ["docker", "--host", node.url, "load"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
                )
            )
            for node in nodes
        ]
        assert saving.stdout is not None
        while data := saving.stdout.read(1 << 20):
            for each in loading:
                assert each.stdin is not None
                each.stdin.write(data)
        for each in loading:
            assert each.stdin is not None
            each.stdin.close()
            assert each.wait(DEADLINE_S) == 0


def remove_tree(folder: Path) -> None:
    """Remove an engine's data, and what it left mounted in there."""
    mounts = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    for mount in reversed([mount for mount in mounts if mount.startswith(f"{folder}/")]):
        subprocess.run(["umount", "--lazy", mount], check=True)
    shutil.rmtree(folder)


def ip(*words: str) -> None:
    """Run iproute2's command."""
    subprocess.run(["ip", *words], check=True)
