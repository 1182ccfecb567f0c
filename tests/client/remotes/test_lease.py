"""Leases as their holders use them, with the daemon that gives them."""

import asyncio
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from pluriverse.errors import RemoteUnavailable
from pluriverse.remotes import http_request
from pluriverse.remotes.address import Address
from pluriverse.remotes.http_request import Answer
from pluriverse.remotes.lease import Lease, LeaseLost, Taken, claim
from pluriverse_server.access import lease as server_lease
from support.agent import connected
from support.ports import free_port
from support.served import PASSWORD, Served, serving
from support.waiting import eventually


@pytest.fixture(autouse=True)
def _short_leases(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setattr(server_lease, "MIN_TTL_S", 0.1)


def address_of(served: Served) -> Address:
    return Address("127.0.0.1", 5900, served.port, PASSWORD)


async def claimed(served: Served, ttl_s: float = 30.0) -> Lease:
    return await asyncio.to_thread(claim, address_of(served), ttl_s)


async def test_lease_has_a_token_that_lets_its_holder_in(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        lease = await claimed(served)
        assert (lease.ttl_s, lease.env_id, lease.address.rewarder_port) == (30.0, "toy.First-v0", served.port)
        assert lease.address.password not in (None, PASSWORD)
        assert lease.address.password not in repr(lease)
        async with connected(served.port, lease.address.password) as agent:
            await agent.assert_alive()


async def test_second_claim_is_told_when_the_remote_may_be_free(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        lease = await claimed(served)
        with pytest.raises(Taken, match="another agent has a lease") as taken:
            await claimed(served)
        assert taken.value.free_in_s is not None
        assert 20 < taken.value.free_in_s <= 30
        await asyncio.to_thread(lease.release)
        await asyncio.to_thread(lease.release)
        await claimed(served)


async def test_lease_that_has_ended_is_lost_and_its_token_is_no_guess(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        lease = await claimed(served, 0.1)
        await eventually(lambda: served.service.leases.lease is None)
        with pytest.raises(LeaseLost, match="has ended"):
            await asyncio.to_thread(lease.renew)
        assert served.http_auth.throttle.wrong == 0
        await asyncio.to_thread(lease.release)


async def test_leases_are_kept_until_they_are_released(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    async with serving(tmp_path) as served, serving(tmp_path / "other") as other:
        leases = [await claimed(served, 1.0), await claimed(other, 1.0)]
        for lease in leases:
            lease.keep()
        until = time.monotonic() + 2.5
        await eventually(lambda: time.monotonic() > until)
        assert served.service.leases.lease is not None
        assert other.service.leases.lease is not None
        await asyncio.to_thread(leases[0].release)
        await eventually(lambda: served.service.leases.lease is None)
        assert other.service.leases.lease is not None
        assert [lease.lost for lease in leases] == [None, None]


async def test_lease_that_is_kept_says_that_it_is_lost(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        lease = await claimed(served, 0.3)
        served.service.leases.stop()
        lease.keep()
        assert served.service.leases.lease is not None
        served.service.leases.give_back(served.service.leases.lease, served.service.leases.lease.token, "elsewhere")
        await eventually(lambda: lease.lost is not None)
        assert "has ended" in (lease.lost or "")


async def test_one_refusal_of_the_token_ends_no_lease(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(tmp_path) as served:
        lease = await claimed(served)
        answers = iter([Answer(401, {"error": "the password is missing or wrong"})])
        renewed = threading.Event()

        def ask(*arguments: Any) -> Answer:
            answer = next(answers, None)
            if answer is None:
                answer = http_request.ask(*arguments)
                renewed.set()
            return answer

        monkeypatch.setattr("pluriverse.remotes.lease.ask", ask)
        lease.ttl_s = 0.3
        lease.keep()
        await eventually(lambda: renewed.is_set() or lease.lost)
        assert lease.lost is None


async def test_remotes_that_do_not_answer_hold_up_no_others(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        async with serving(tmp_path) as served:
            gone = [Lease(Address("127.0.0.1", 5900, mute.getsockname()[1], "x"), "x", 0.3, None) for _ in range(4)]
            lease = await claimed(served, 1.0)
            for each in (*gone, lease):
                each.keep()
            await eventually(lambda: all(each.lost is not None for each in gone))
            assert lease.lost is None
            assert served.service.leases.lease is not None


def test_remote_that_is_not_there_is_named() -> None:
    address = Address("127.0.0.1", 5900, free_port(), PASSWORD)
    with pytest.raises(RemoteUnavailable, match=f"{address.rewarder_port} doesn't answer: .*refused"):
        claim(address)
    Lease(address, "x", 30.0, None).release()


async def test_wrong_password_and_wrong_time_are_told(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        with pytest.raises(RemoteUnavailable, match="password is missing or wrong"):
            await asyncio.to_thread(claim, Address("127.0.0.1", 5900, served.port, "wrong"))
        with pytest.raises(RemoteUnavailable, match="ttl_s is 601; expected"):
            await claimed(served, 601)
