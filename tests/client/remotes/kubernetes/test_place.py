"""A place in a cluster, with the daemon that gives the lease on it."""

import asyncio
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from pluriverse.errors import RemoteUnavailable
from pluriverse.remotes.address import Address
from pluriverse.remotes.kubernetes import place
from pluriverse.remotes.kubernetes.place import STOPPED, Place
from pluriverse.remotes.lease import LeaseKeeper, claim
from pluriverse_server.access import lease as server_lease
from support.served import PASSWORD, Served, serving
from support.waiting import eventually


@pytest.fixture
def keeper() -> Iterator[LeaseKeeper]:
    keeper = LeaseKeeper()
    yield keeper
    keeper.close()


def address_of(served: Served) -> Address:
    return Address("127.0.0.1", 5900, served.port, PASSWORD)


class Ours(Place):
    """A place that needs nothing but the lease. ``gone``: what became of it."""

    gone: str | None = None
    given_back = 0

    def find(self, deadline: float) -> str:
        raise NotImplementedError

    def refused(self) -> None:
        raise NotImplementedError

    def why_gone(self) -> str | None:
        return self.gone

    def give_back(self) -> None:
        self.given_back += 1
        if self.lease is not None:
            self.lease.release()


async def test_remote_is_ours_until_it_is_given_back_once(
    tmp_path: Path, keeper: LeaseKeeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_lease, "MIN_TTL_S", 0.1)
    monkeypatch.setattr(place, "claim", partial(claim, ttl_s=0.3))
    ours = Ours(keeper)
    async with serving(tmp_path) as served:
        await asyncio.to_thread(ours.claim, address_of(served))
        until = time.monotonic() + 1
        await eventually(lambda: time.monotonic() > until)
        ours.require_running()
        assert served.service.leases.lease is not None
        assert ours.address.password not in (None, PASSWORD)
        await asyncio.gather(*(asyncio.to_thread(ours.stop) for _ in range(3)))
        assert (served.service.leases.lease, ours.given_back) == (None, 1)
        with pytest.raises(RemoteUnavailable, match=STOPPED):
            ours.require_running()


async def test_lease_that_comes_after_the_end_is_given_back(tmp_path: Path, keeper: LeaseKeeper) -> None:
    ours = Ours(keeper)
    ours.stop()
    async with serving(tmp_path) as served:
        with pytest.raises(RemoteUnavailable, match=STOPPED):
            await asyncio.to_thread(ours.claim, address_of(served))
        assert served.service.leases.lease is None
        await asyncio.to_thread(claim, address_of(served))
    with pytest.raises(RemoteUnavailable, match=STOPPED):
        _ = ours.address


async def test_what_became_of_a_remote_is_told_before_that_its_lease_is_lost(
    tmp_path: Path, keeper: LeaseKeeper
) -> None:
    ours = Ours(keeper)
    async with serving(tmp_path) as served:
        await asyncio.to_thread(ours.claim, address_of(served))
    assert ours.lease is not None
    ours.lease.lost = "it was not renewed in time"
    with pytest.raises(RemoteUnavailable, match="not renewed"):
        ours.require_running()
    ours.gone = "it was evicted"
    with pytest.raises(RemoteUnavailable, match="evicted"):
        ours.require_running()
