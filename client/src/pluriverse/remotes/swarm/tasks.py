"""What a swarm tells of its nodes, services and tasks. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pluriverse.errors import ConfigurationError
from pluriverse.remotes.address import REWARDER_PORT, VNC_PORT, Address
from pluriverse.runtimes import IMAGE_PREFIX

# Marks what was started beside a service, by its name.
BESIDE: Final = "pluriverse.beside"

WAITING: Final = frozenset({"new", "pending", "assigned"})
ENDED: Final = frozenset({"complete", "failed", "shutdown", "rejected", "orphaned", "remove"})


@dataclass(frozen=True, slots=True)
class Task:
    """One container of a service, or the wish for one. ``ports``: of its node, by the container's."""

    id: str
    node: str
    state: str
    wanted: str
    message: str
    since: datetime
    ports: Mapping[int, int]

    @property
    def is_running(self) -> bool:
        """Whether it runs, and is to go on."""
        return self.state == self.wanted == "running"

    @property
    def waits(self) -> bool:
        """Whether it has no node yet, or one that hasn't taken it."""
        return self.state in WAITING and not self.has_ended

    @property
    def has_ended(self) -> bool:
        """Whether it doesn't run any more, or is being ended."""
        return self.state in ENDED or self.wanted in ENDED

    def address(self, hosts: Mapping[str, str], password: str | None) -> Address | None:
        """Return where it is reached; None unless it runs on a node that is there."""
        host, port = hosts.get(self.node), self.ports.get(REWARDER_PORT)
        if not self.is_running or host is None or port is None:
            return None
        return Address(host, self.ports.get(VNC_PORT), port, password)


def task_of(told: Mapping[str, Any]) -> Task:
    """Return a task as the engine's API tells of it."""
    status = told["Status"]
    ports = status.get("PortStatus", {}).get("Ports", ())
    return Task(
        id=told["ID"],
        node=told.get("NodeID", ""),
        state=status["State"],
        wanted=told["DesiredState"],
        message=status.get("Err") or status.get("Message", ""),
        since=datetime.fromisoformat(status["Timestamp"]),
        ports={port["TargetPort"]: port["PublishedPort"] for port in ports},
    )


def hosts_of(nodes: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the addresses of the nodes that are there, by their ids."""
    hosts: dict[str, str] = {}
    for node in nodes:
        if node["Status"]["State"] != "ready":
            continue
        # A manager may call itself 0.0.0.0.
        manager = node.get("ManagerStatus", {}).get("Addr", "").rpartition(":")[0].strip("[]")
        hosts[node["ID"]] = manager or node["Status"]["Addr"]
    return hosts


def choose_service(services: Sequence[Mapping[str, Any]], name: str | None, runtime: str) -> Mapping[str, Any]:
    """Return the service of this name; without one that of the runtime's image.

    Raises:
        ConfigurationError: there is none, or several, or its tasks can't be reached one by one; says what mends it.
    """
    services = [each for each in services if BESIDE not in each["Spec"].get("Labels", {})]
    image = IMAGE_PREFIX + runtime
    deploy = (
        f"start it in a checkout with: RUNTIME={runtime} PLURIVERSE_PASSWORD=… "
        "docker stack deploy --compose-file docker-compose.yml pluriverse"
    )
    names = ", ".join(sorted(each["Spec"]["Name"] for each in services)) or "none"
    if name is not None:
        found = [each for each in services if each["Spec"]["Name"] == name]
        if not found:
            raise ConfigurationError(f"the swarm has no service {name!r} (it has: {names}); {deploy}")
    else:
        found = [each for each in services if f"/{_repository(each)}".endswith(f"/{image}")]
        if not found:
            raise ConfigurationError(f"no service of the swarm runs {image} (it has: {names}); {deploy}")
        if len(found) > 1:
            several = ", ".join(sorted(each["Spec"]["Name"] for each in found))
            raise ConfigurationError(f"several services run {image}: {several}; choose one with swarm:N?service=NAME")
    (service,) = found
    if not any(port["TargetPort"] == REWARDER_PORT and _is_of_host(port) for port in _ports(service["Spec"])):
        raise ConfigurationError(
            f"the service {service['Spec']['Name']} doesn't publish the port {REWARDER_PORT} of each task on its own "
            "machine; do as docker-compose.yml does: target: 15900, mode: host"
        )
    return service


def one_more(spec: Mapping[str, Any], name: str, env_id: str) -> dict[str, Any]:
    """Return the specification of a service with one task, which is like those of ``spec`` and isn't started again."""
    task: dict[str, Any] = deepcopy(spec["TaskTemplate"])
    container = task["ContainerSpec"]
    kept = [each for each in container.get("Env") or () if not each.startswith("PLURIVERSE_ENV=")]
    container["Env"] = [*kept, f"PLURIVERSE_ENV={env_id}"]
    # Who started it asks by itself. A swarm would tell its ports only after the first check, seconds later.
    container["Healthcheck"] = {"Test": ["NONE"]}
    task["RestartPolicy"] = {"Condition": "none"}
    return {
        "name": name,
        "task_template": task,
        "labels": {**spec.get("Labels", {}), BESIDE: spec["Name"]},
        "mode": {"Replicated": {"Replicas": 1}},
        "endpoint_spec": {
            "Ports": [
                {"Protocol": "tcp", "TargetPort": port["TargetPort"], "PublishMode": "host"} for port in _ports(spec)
            ]
        },
    }


def require_manager(swarm: Mapping[str, Any]) -> None:
    """Raise ``ConfigurationError`` unless the engine is a manager of a swarm."""
    if swarm["LocalNodeState"] != "active":
        raise ConfigurationError(
            f"the Docker engine isn't part of a swarm (it is {swarm['LocalNodeState']}); "
            "begin one with: docker swarm init, or join one with: docker swarm join"
        )
    if not swarm["ControlAvailable"]:
        managers = ", ".join(each["Addr"] for each in swarm.get("RemoteManagers") or ())
        raise ConfigurationError(
            f"the Docker engine is a worker of its swarm, and only managers ({managers}) start services; name one: "
            "export DOCKER_HOST=tcp://… or make this one a manager: docker node promote"
        )


def _repository(service: Mapping[str, Any]) -> str:
    """Return the name of a service's image without tag and digest."""
    image = service["Spec"]["TaskTemplate"]["ContainerSpec"]["Image"].partition("@")[0]
    folder, slash, last = image.rpartition("/")
    return folder + slash + last.partition(":")[0]


def _ports(spec: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return spec.get("EndpointSpec", {}).get("Ports") or ()


def _is_of_host(port: Mapping[str, Any]) -> bool:
    return port.get("PublishMode") == "host"
