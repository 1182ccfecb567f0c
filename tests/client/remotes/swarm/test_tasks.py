from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pluriverse.errors import ConfigurationError
from pluriverse.remotes.address import Address
from pluriverse.remotes.swarm.tasks import BESIDE, choose_service, hosts_of, one_more, require_manager, task_of

HOST_PORTS = [{"Protocol": "tcp", "TargetPort": port, "PublishMode": "host"} for port in (5900, 15900)]


def service(name: str, image: str = "pluriverse/gym-core", **more: Any) -> dict[str, Any]:
    """A service as the engine tells of it."""
    spec = {
        "Name": name,
        "Labels": {"com.docker.stack.namespace": "pluriverse"},
        "TaskTemplate": {"ContainerSpec": {"Image": image, "Env": ["PLURIVERSE_ENV=", "PLURIVERSE_PASSWORD=secret"]}},
        "EndpointSpec": {"Mode": "vip", "Ports": HOST_PORTS},
    }
    return {"ID": f"id of {name}", "Spec": {**spec, **more}}


def task(state: str = "running", wanted: str = "running", **more: Any) -> dict[str, Any]:
    """A task as the engine tells of it."""
    ports = [{"TargetPort": 15900, "PublishedPort": 32768}, {"TargetPort": 5900, "PublishedPort": 32769}]
    status = {
        "State": state,
        "Timestamp": "2026-01-02T03:04:05.123456789Z",
        "Message": "started",
        "PortStatus": {"Ports": ports},
    }
    return {"ID": "t", "NodeID": "n", "DesiredState": wanted, "Status": {**status, **more}}


def test_task_that_runs_is_reached_by_the_ports_of_its_node() -> None:
    told = task_of(task())
    assert (told.is_running, told.has_ended) == (True, False)
    assert told.since == datetime(2026, 1, 2, 3, 4, 5, 123456, UTC)
    assert told.address({"n": "10.0.0.7"}, "secret") == Address("10.0.0.7", 32769, 32768, "secret")
    assert told.address({"another": "10.0.0.7"}, "secret") is None


def test_task_without_a_screens_port_is_one_of_one_port() -> None:
    told = task_of(task(PortStatus={"Ports": [{"TargetPort": 15900, "PublishedPort": 32768}]}))
    assert told.address({"n": "10.0.0.7"}, None) == Address("10.0.0.7", None, 32768)


@pytest.mark.parametrize(
    ("state", "wanted", "has_ended"),
    [("running", "shutdown", True), ("complete", "shutdown", True), ("starting", "running", False)],
)
def test_task_that_is_not_to_run_has_no_address(state: str, wanted: str, has_ended: bool) -> None:
    told = task_of(task(state, wanted))
    assert told.address({"n": "10.0.0.7"}, None) is None
    assert told.has_ended == has_ended


def test_task_that_waits_for_room_says_why() -> None:
    error = "no suitable node (insufficient resources on 2 nodes)"
    told = task_of({**task("pending", Err=error, PortStatus={}), "NodeID": ""})
    assert told.message == error
    assert told.waits


def test_nodes_that_are_down_have_no_address_and_managers_are_called_as_they_are_by_others() -> None:
    nodes: list[dict[str, Any]] = [
        {"ID": "a", "Status": {"State": "ready", "Addr": "10.0.0.1"}},
        {"ID": "b", "Status": {"State": "down", "Addr": "10.0.0.2"}},
        {"ID": "c", "Status": {"State": "ready", "Addr": "0.0.0.0"}, "ManagerStatus": {"Addr": "10.0.0.3:2377"}},
        {"ID": "d", "Status": {"State": "ready", "Addr": "0.0.0.0"}, "ManagerStatus": {"Addr": "[fd00::4]:2377"}},
    ]
    assert hosts_of(nodes) == {"a": "10.0.0.1", "c": "10.0.0.3", "d": "fd00::4"}


@pytest.mark.parametrize(
    "image",
    [
        "pluriverse/gym-core",
        "pluriverse/gym-core:latest",
        "pluriverse/gym-core:1@sha256:0123",
        "registry.example:5000/pluriverse/gym-core:latest",
    ],
)
def test_service_is_found_by_the_runtimes_image(image: str) -> None:
    services = [service("other", "pluriverse/doom"), service("mine", image)]
    assert choose_service(services, None, "gym-core")["ID"] == "id of mine"


def test_what_was_started_beside_a_service_is_not_taken_for_one() -> None:
    services = [service("mine"), service("mine-1", Labels={BESIDE: "mine"})]
    assert choose_service(services, None, "gym-core")["ID"] == "id of mine"


def test_service_that_is_missing_is_told_with_what_deploys_it() -> None:
    deploy = r"RUNTIME=gym-core PLURIVERSE_PASSWORD=… docker stack deploy --compose-file docker-compose\.yml pluriverse"
    with pytest.raises(ConfigurationError, match=rf"runs pluriverse/gym-core \(it has: web\).*{deploy}"):
        choose_service([service("web", "nginx")], None, "gym-core")
    with pytest.raises(ConfigurationError, match=rf"no service 'games' \(it has: none\).*{deploy}"):
        choose_service([], "games", "gym-core")


def test_one_of_several_services_is_chosen_by_name() -> None:
    services = [service("b"), service("a")]
    with pytest.raises(ConfigurationError, match=r"several services run pluriverse/gym-core: a, b; .*\?service=NAME"):
        choose_service(services, None, "gym-core")
    assert choose_service(services, "b", "gym-core")["ID"] == "id of b"


def test_service_behind_the_ingress_network_is_refused_with_what_mends_it() -> None:
    ports = [{"Protocol": "tcp", "TargetPort": 15900, "PublishedPort": 15900, "PublishMode": "ingress"}]
    with pytest.raises(ConfigurationError, match="target: 15900, mode: host"):
        choose_service([service("mine", EndpointSpec={"Ports": ports})], None, "gym-core")


def test_one_more_is_like_the_others_plays_at_once_and_is_not_started_again() -> None:
    spec = service("mine")["Spec"]
    more = one_more(spec, "mine-1", "gym-core.Pong-v3")
    template = more["task_template"]
    assert template["ContainerSpec"]["Image"] == "pluriverse/gym-core"
    assert template["ContainerSpec"]["Env"] == ["PLURIVERSE_PASSWORD=secret", "PLURIVERSE_ENV=gym-core.Pong-v3"]
    assert template["RestartPolicy"] == {"Condition": "none"}
    assert more["labels"] == {"com.docker.stack.namespace": "pluriverse", BESIDE: "mine"}
    assert more["endpoint_spec"]["Ports"] == HOST_PORTS
    assert spec == service("mine")["Spec"]


def test_engine_outside_of_a_swarm_is_told_with_what_begins_one() -> None:
    with pytest.raises(ConfigurationError, match=r"it is inactive.*docker swarm init"):
        require_manager({"LocalNodeState": "inactive", "ControlAvailable": False})
    require_manager({"LocalNodeState": "active", "ControlAvailable": True})
