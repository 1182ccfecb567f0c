"""Who may be the agent while there is a lease, and how leases end."""

import asyncio
import time
from pathlib import Path

import pytest
from pluriverse_server.access.lease import Lease
from pluriverse_server.access.tokens import Role, Token
from pluriverse_server.daemon import leases
from support.agent import Agent, connected
from support.served import Served, serving
from support.waiting import eventually

SOMEBODY = Token(Role.OPERATOR, "somebody", "somebodys-token")
TOKENS = """
agent robot robots-own-token
observer eye observers-token
"""


def give(served: Served, ttl_s: float = 30.0) -> Lease:
    return served.service.leases.claim(SOMEBODY, ttl_s, where="192.0.2.1")


async def refusal(agent: Agent) -> str:
    await agent.send("v0.control.ping", {})
    assert await agent.hear_end() == 1000
    return agent.heard[-1]["body"]["message"]


async def test_only_the_leases_token_is_let_in_as_an_agent(tmp_path: Path) -> None:
    async with serving(tmp_path, tokens=TOKENS) as served:
        lease = give(served)
        async with served.agent() as other:
            assert "another agent has a lease" in await refusal(other)
        async with connected(served.port, "robots-own-token", token="a seat") as other:
            assert await other.hear_end() == 1000
        async with connected(served.port, lease.token.secret) as agent:
            await agent.assert_alive()


async def test_others_watch_while_there_is_a_lease(tmp_path: Path) -> None:
    async with serving(tmp_path, tokens=TOKENS) as served:
        give(served)
        async with (
            served.agent(observer=True) as one,
            connected(served.port, "robots-own-token", observer=True) as another,
            connected(served.port, "observers-token") as third,
        ):
            for each in (one, another, third):
                await each.assert_alive()
            assert served.service.status()["observers"] == 3


@pytest.mark.parametrize("token", [None, "a seat"])
async def test_lease_that_is_not_renewed_ends_and_its_agent_is_told(tmp_path: Path, token: str | None) -> None:
    async with serving(tmp_path) as served:
        lease = give(served, 0.5)
        async with connected(served.port, lease.token.secret, token=token) as agent:
            await agent.assert_alive()
            assert await agent.hear_end() == 1000
            assert agent.heard[-1]["body"]["message"] == "the lease has ended: lease expired"
        assert not served.service.sessions.occupied
        async with connected(served.port, lease.token.secret) as late:
            assert await late.hear_end() == 1000
            assert "lease of this token has ended" in late.heard[-1]["body"]["message"]
        give(served)
    assert served.http_auth.throttle.wrong == 0


async def test_renewal_that_came_while_the_daemon_stood_still_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "LATE_S", 0.3)
    async with serving(tmp_path) as served:
        lease = give(served, 0.1)
        time.sleep(1)  # noqa: ASYNC251 - so that nothing else has a turn
        await asyncio.sleep(0)
        await asyncio.sleep(0.01)
        assert served.service.leases.lease is lease
        await eventually(lambda: served.service.leases.lease is None)


async def test_remote_that_drains_keeps_its_agent_and_takes_no_other(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.agent(token="a seat") as agent:
        await agent.assert_alive()
        served.service.leases.draining = True
        agent.cut()
        await eventually(lambda: served.service.sessions.agent is None)
        last = agent.heard[-1]["headers"].get("number", 1)
        async with served.agent(token="a seat", last_number=last) as again:
            assert again.seat == "resumed"
            await again.assert_alive()
            async with served.agent() as other:
                assert "another agent" in await refusal(other)
        await eventually(lambda: not served.service.sessions.occupied)
        async with served.agent() as other:
            assert "draining" in await refusal(other)
