"""Remotes on a Ray cluster of three nodes, which are processes of this machine."""

import os
import time
from collections.abc import Generator
from typing import Any

import pluriverse
import pytest
from pluriverse.errors import ConfigurationError, RemoteUnavailable
from pluriverse.remotes import parse
from pluriverse.remotes.health import why_not_ready
from pluriverse.remotes.manager import no_progress
from pluriverse.remotes.ray import RayRemote, connect
from pluriverse.remotes.started import StartedRemotes
from support.ray_cluster import CLUSTER_S, Cluster, node_of, ray, ray_cluster, runs
from support.waiting import DEADLINE_S, until

PONG = "gym-core.PongDeterministic-v3"
LOCAL = "ray:{}?how=local&cpu=0.1"

# A node is given up some seconds after its last sign, and its remotes start anew elsewhere.
REPLACED_S = 90.0

pytestmark = [pytest.mark.slow, pytest.mark.display, pytest.mark.timeout(CLUSTER_S)]


@pytest.fixture(scope="module")
def cluster() -> Generator[Cluster]:
    with ray_cluster(3) as cluster:
        yield cluster


@pytest.fixture
def remotes(cluster: Cluster) -> Generator[StartedRemotes[RayRemote]]:
    remotes = parse(LOCAL.format(3), PONG)
    assert isinstance(remotes, StartedRemotes)
    yield remotes
    remotes.close()
    remotes.close()


def held(remotes: StartedRemotes[RayRemote]) -> list[RayRemote]:
    found = [remote for remote in remotes._remotes if remote is not None]  # pyright: ignore[reportPrivateUsage]
    assert len(found) == remotes.n
    return found


def test_remotes_are_spread_over_the_nodes_and_gone_when_closed(remotes: StartedRemotes[RayRemote]) -> None:
    addresses = remotes.start(no_progress)
    assert [why_not_ready(address) for address in addresses] == [None] * 3
    assert len({address.password for address in addresses}) == 3
    # Others reach them, unlike this machine's own.
    assert {address.host for address in addresses} == {ray.util.get_node_ip_address()}
    assert len({node_of(remote.actor) for remote in held(remotes)}) > 1
    remotes.close()
    until(lambda: not any(map(runs, addresses)))


def test_a_remote_that_died_is_replaced_and_the_others_stay(remotes: StartedRemotes[RayRemote]) -> None:
    first, second, third = remotes.start(no_progress)
    ray.kill(held(remotes)[1].actor)
    until(lambda: not runs(second))
    fourth = remotes.replace(1)
    assert fourth not in (first, second, third)
    assert why_not_ready(fourth) is None
    assert [remotes.replace(0), remotes.replace(2)] == [first, third]


def test_what_a_node_says_of_a_remote_that_it_cannot_start_is_passed_on(cluster: Cluster) -> None:
    wrong = parse(LOCAL.format(1), "gym-core.Nonsense-v0")
    with pytest.raises(RemoteUnavailable, match=r"(?s)Ray's node .*unknown environment 'gym-core\.Nonsense-v0'"):
        wrong.start(no_progress)
    no_image = parse("ray:1?image=example/nothing", PONG)
    with pytest.raises(
        RemoteUnavailable, match=r"(?s)Ray's node .*(docker pull example/nothing|the Docker engine doesn't answer)"
    ):
        no_image.start(no_progress)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("cpu=3", "it needs CPU 3, and no node has that much"),
        ("cpu=2&how=local", "it needs CPU 2, and 0 of 6 CPU is free"),
        ("resource=screens", "it needs CPU 0.25, screens 1, and no node has that much"),
    ],
)
def test_what_is_short_is_named(cluster: Cluster, options: str, reason: str) -> None:
    others = [ray.remote(Idle).options(num_cpus=2).remote() for _ in range(3)] if "=2" in options else []
    ray.get([other.ping.remote() for other in others])
    with pytest.raises(RemoteUnavailable, match="0 of 2 remotes were ready") as caught:
        parse(f"ray:2?{options}&place_s=2", PONG).start(no_progress)
    assert reason in str(caught.value)
    assert "ray start" in str(caught.value)


class Idle:
    def ping(self) -> None:
        """Return: it has a place."""


class Runner:
    """As RLlib's runners and Tune's trials do: makes its environment in an actor."""

    def play(self) -> tuple[Any, int]:
        self.env = pluriverse.make(PONG, LOCAL.format(1))
        self.env.reset()
        until(lambda: self.env.step([[]])[0][0] is not None, deadline_s=REPLACED_S)
        return self.env.addresses[0], os.getpid()


def test_an_actors_remotes_end_with_it(cluster: Cluster) -> None:
    runner = ray.remote(Runner).options(num_cpus=0.1).remote()
    address, pid = ray.get(runner.play.remote())
    assert pid != os.getpid()
    assert runs(address)
    ray.kill(runner)
    until(lambda: not runs(address))


@pytest.mark.container
def test_containers_of_a_node_are_reached_at_its_address(cluster: Cluster) -> None:
    remotes = parse("ray:1?how=docker&memory=512Mi", PONG)
    try:
        (address,) = remotes.start(no_progress)
        assert why_not_ready(address) is None
        assert address.host == ray.util.get_node_ip_address()
    finally:
        remotes.close()


def test_where_no_cluster_answers_it_is_told_at_once_what_starts_one(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    began = time.monotonic()
    for address in ("127.0.0.1:9", "ray://127.0.0.1:9", "nonsense"):
        with pytest.raises(ConfigurationError, match=f"no Ray cluster answers at '{address}'.*ray start --head"):
            connect(address)
    assert time.monotonic() - began < DEADLINE_S


@pytest.mark.parametrize(("query", "wrong"), [("how=magic", "how is 'magic'"), ("how=local&image=a", "how=docker")])
def test_wrong_options_are_refused(query: str, wrong: str) -> None:
    with pytest.raises(ConfigurationError, match=wrong):
        parse(f"ray:1?{query}", PONG)
