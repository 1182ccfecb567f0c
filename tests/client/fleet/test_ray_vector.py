"""Vectors on a Ray cluster of two nodes, which are processes of this machine."""

import gc
import re
from collections.abc import Generator
from typing import Any

import numpy as np
import pytest
from pluriverse.errors import ActionError, Closed, ConfigurationError, Misuse, RemoteUnavailable
from pluriverse.fleet import Batch, RayVector
from pluriverse.remotes.ray import RayOptions
from support.ray_cluster import CLUSTER_S, Cluster, add_node, node_of, ray, ray_cluster
from support.remotes import ROOT
from support.waiting import until

PONG = "gym-core.PongDeterministic-v3"
SHAPE = (210, 160, 3)
# Cores of a node.
CPU = 4
SMALL = RayOptions(cpu=0.5)
STEPS = 20

# Above what Ray sends with its messages, a batch lies in the object store.
MESSAGE_BYTES = 100 * 1024

pytestmark = [pytest.mark.slow, pytest.mark.display, pytest.mark.timeout(CLUSTER_S)]


@pytest.fixture(scope="module")
def cluster() -> Generator[Cluster]:
    with ray_cluster(2, cpu=CPU) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def vector(cluster: Cluster) -> Generator[RayVector]:
    with RayVector(PONG, 2, remotes="local:2", reserve=SMALL) as vector:
        yield vector
    with pytest.raises(Closed):
        vector.recv()


def act(vector: RayVector, batch: Batch) -> None:
    vector.send(np.zeros(len(batch), np.int64), batch.env_id)


def play(vector: RayVector, timeout_s: float = 60.0) -> None:
    while True:
        act(vector, vector.recv(timeout_s))


def actors(vector: RayVector) -> list[Any]:
    return vector._actors  # pyright: ignore[reportPrivateUsage]


def test_each_vector_sends_its_frames_when_it_has_them(vector: RayVector) -> None:
    assert (vector.n, vector.spec.n, vector.spec.shape, vector.spec.actions.n) == (4, 4, SHAPE, 6)
    seen: dict[int, int] = dict.fromkeys(range(4), 0)
    while min(seen.values()) < STEPS:
        batch = vector.recv()
        # Each batch is one vector's.
        assert set(batch.env_id.tolist()) in ({0, 1}, {0}, {1}, {2, 3}, {2}, {3})
        assert batch.observation.shape == (len(batch), *SHAPE)
        for number in batch.env_id.tolist():
            seen[number] += 1
        act(vector, batch)


def test_pictures_are_read_where_the_actor_wrote_them(vector: RayVector) -> None:
    batch = vector.recv()
    while batch.observation.nbytes < MESSAGE_BYTES:
        act(vector, batch)
        batch = vector.recv()
    # In memory that is shared, and can't be written to.
    assert not batch.observation.flags.writeable
    assert not batch.observation.flags.owndata
    act(vector, batch)


def test_no_batch_stays_in_the_object_store_once_it_was_let_go(vector: RayVector) -> None:
    free = ray.available_resources()["object_store_memory"]
    for _ in range(STEPS):
        act(vector, vector.recv())
    gc.collect()
    most = 2 * 2 * int(np.prod(SHAPE)) + MESSAGE_BYTES
    until(lambda: free - ray.available_resources()["object_store_memory"] < most)


def test_an_invalid_action_is_told_by_recv_and_the_vector_goes_on(vector: RayVector) -> None:
    batch = vector.recv()
    vector.send(np.full(len(batch), 6), batch.env_id)

    with pytest.raises(ActionError, match="expected an integer of 0 to 5"):
        play(vector)
    act(vector, batch)
    for _ in range(STEPS):
        act(vector, vector.recv())


def test_only_who_waits_is_acted_on(vector: RayVector) -> None:
    first = vector.recv()
    others = [number for number in range(4) if number not in first.env_id]
    wrong: list[Any] = [others, [4], [first.env_id[0]] * 2, [[first.env_id[0]]], [-1], [0.5]]
    for env_id in wrong:
        with pytest.raises(Misuse):
            vector.send([0] * len(env_id), env_id)
    with pytest.raises(Misuse, match="for 0 actions"):
        vector.send([], first.env_id)
    act(vector, first)


def test_what_cannot_begin_is_told(cluster: Cluster) -> None:
    with pytest.raises(RemoteUnavailable, match=r"(?s)vector 0: .*unknown environment 'gym-core\.Nonsense-v0'"):
        RayVector("gym-core.Nonsense-v0", 1, remotes="local:1", reserve=SMALL)
    with pytest.raises(RemoteUnavailable, match=r"0 of 2 vectors were placed in 2 s: it needs CPU 8"):
        RayVector(PONG, 2, remotes="local:1", reserve=RayOptions(cpu=8, place_s=2))
    with pytest.raises(ConfigurationError, match="remotes for 1 vectors; expected 2"):
        RayVector(PONG, 2, remotes=["local:1"])


def play_through_a_loss(vector: RayVector, lost_ids: set[int]) -> None:
    """Play until all of ``lost_ids`` were lost at once, and play again; the others go on, and lose nothing."""
    came_back: set[int] = set()
    lost: list[set[int]] = []
    others = 0
    while came_back != lost_ids:
        batch = vector.recv()
        ids = set(batch.env_id.tolist())
        if batch.lost.any():
            assert batch.truncated.all()
            lost.append(ids)
        elif ids & lost_ids and lost:
            # They come back with an episode's beginning.
            assert came_back or batch.first.all()
            came_back |= ids & lost_ids
        elif lost:
            others += len(ids)
        act(vector, batch)
    assert lost == [lost_ids]
    assert others > STEPS


def test_a_vector_that_died_is_made_anew_and_the_other_goes_on(vector: RayVector) -> None:
    ray.kill(actors(vector)[1])
    play_through_a_loss(vector, {2, 3})


def test_a_vector_whose_node_is_killed_is_made_anew_on_another(cluster: Cluster) -> None:
    # No node has room for two of them.
    with RayVector(PONG, 2, remotes="local:1", reserve=RayOptions(cpu=0.6 * CPU)) as vector:
        node, other = map(node_of, actors(vector))
        assert node != other
        cluster.remove_node(next(each for each in cluster.worker_nodes if each.node_id == node), allow_graceful=False)
        add_node(cluster, CPU)
        play_through_a_loss(vector, {0})
        assert node_of(actors(vector)[0]) not in (node, other)


def test_documentation_is_followed(cluster: Cluster) -> None:
    section = (ROOT / "docs/fleet.md").read_text().partition("\n## Ray\n")[2].partition("\n## ")[0]
    (first,) = re.findall(r'python -c "\n(.*?)"\n```', section, re.DOTALL)
    (second,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    fewer = {
        "'ray:64'": "'ray:2?how=local'",
        "vectors=8": "vectors=1",
        '"docker:24"': '"local:2"',
        "range(1000)": "range(20)",
    }
    for shown, here in fewer.items():
        assert (shown in first) != (shown in second)
        first, second = first.replace(shown, here), second.replace(shown, here)
    for sample in (first, second):
        exec(compile(sample, "fleet.md", "exec"), {})  # noqa: S102 - our own documentation
