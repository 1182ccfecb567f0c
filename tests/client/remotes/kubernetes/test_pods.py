"""A pod of a cluster, with the daemon that gives the lease on it."""

import asyncio
import itertools
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from pluriverse.errors import RemoteUnavailable
from pluriverse.remotes.address import Address
from pluriverse.remotes.kubernetes import pods
from pluriverse.remotes.kubernetes.cluster import Cluster
from pluriverse.remotes.kubernetes.pods import STOPPED, Pod, Pods
from pluriverse.remotes.lease import claim
from pluriverse_server.access import lease as server_lease
from support import kube
from support.kube import FakeCluster, Trouble
from support.served import PASSWORD, Served, serving
from support.waiting import DEADLINE_S, eventually, until


def address_of(served: Served) -> Address:
    return Address("127.0.0.1", 5900, served.port, PASSWORD)


@pytest.fixture
def ours(fake: FakeCluster, cluster: Cluster) -> Pod:
    """A pod that was found."""
    fake.put(kube.pod("mine", "10.0.0.1"))
    found = Pods(cluster, "pluriverse/runtime=gym-core")
    pod = Pod(found)
    assert pod.find(time.monotonic() + 60) == "10.0.0.1"
    return pod


async def test_remote_is_ours_until_it_is_given_back_once(
    tmp_path: Path, ours: Pod, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_lease, "MIN_TTL_S", 0.1)
    monkeypatch.setattr(pods, "claim", partial(claim, ttl_s=0.3))
    async with serving(tmp_path) as served:
        await asyncio.to_thread(ours.claim, address_of(served))
        later = time.monotonic() + 1
        await eventually(lambda: time.monotonic() > later)
        ours.require_running()
        assert served.service.leases.lease is not None
        assert ours.address.password not in (None, PASSWORD)
        await asyncio.gather(*(asyncio.to_thread(ours.stop) for _ in range(3)))
        assert served.service.leases.lease is None
        with pytest.raises(RemoteUnavailable, match=STOPPED):
            ours.require_running()


async def test_lease_that_comes_after_the_end_is_given_back(tmp_path: Path, ours: Pod) -> None:
    ours.stop()
    async with serving(tmp_path) as served:
        with pytest.raises(RemoteUnavailable, match=STOPPED):
            await asyncio.to_thread(ours.claim, address_of(served))
        assert served.service.leases.lease is None
        await asyncio.to_thread(claim, address_of(served))
    with pytest.raises(RemoteUnavailable, match=STOPPED):
        _ = ours.address


async def test_lease_that_is_lost_is_told(tmp_path: Path, ours: Pod) -> None:
    async with serving(tmp_path) as served:
        await asyncio.to_thread(ours.claim, address_of(served))
    assert ours.lease is not None
    ours.lease.lost = "it was not renewed in time"
    with pytest.raises(RemoteUnavailable, match="not renewed"):
        ours.require_running()


def test_who_waits_sees_what_comes_though_the_server_was_away_and_asks_no_more_than_is_needed(
    fake: FakeCluster, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pods, "LIST_S", 0.1)
    found = Pods(cluster, "pluriverse/runtime=gym-core")
    with ThreadPoolExecutor() as threads:
        waiting = [threads.submit(Pod(found).find, time.monotonic() + DEADLINE_S) for _ in range(2)]
        fake.troubles.append(Trouble("list", 503, "etcd is away"))
        until(lambda: len(fake.asked) >= 4)
        fake.put(kube.pod("first", "10.0.0.1"))
        fake.put(kube.pod("second", "10.0.0.2"))
        assert {each.result(DEADLINE_S) for each in waiting} == {"10.0.0.1", "10.0.0.2"}
    times = [each.at for each in fake.asked if each.verb == "list"]
    assert all(after - before > 0.1 for before, after in itertools.pairwise(times))
