"""Leases, restarts and the remote's end over HTTP: who may, and what is answered."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

import aiohttp
import pytest
from pluriverse_server.access import audit
from pluriverse_server.daemon.operations import MAX_BODY_BYTES
from support.served import PASSWORD, TOKENS, Served, serving
from support.waiting import eventually

AGENT, OBSERVER, PERSON, OPERATOR = "robots-token", "observers-token", "editors-token", "operators-token"


@pytest.fixture
async def served(tmp_path: Path) -> AsyncGenerator[Served]:
    async with serving(tmp_path, tokens=TOKENS) as served:
        await served.running()
        yield served


async def ask(
    served: Served, method: str, path: str, secret: str | None, body: Any = None, **headers: str
) -> tuple[int, dict[str, Any]]:
    """Send a request; a body that isn't bytes is sent as JSON."""
    if secret is not None:
        headers["Authorization"] = f"Bearer {secret}"
    data = body if isinstance(body, bytes | None) else json.dumps(body)
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, f"http://127.0.0.1:{served.port}{path}", data=data, headers=headers) as response,
    ):
        document = json.loads(await response.text() or "{}")
        return response.status, cast("dict[str, Any]", document)


@pytest.mark.parametrize("secret", [PASSWORD, AGENT, OPERATOR, PERSON])
async def test_lease_is_given_renewed_and_given_back(served: Served, secret: str) -> None:
    status, lease = await ask(served, "POST", "/lease", secret, {"ttl_s": 20})
    assert (status, lease["ttl_s"], lease["env_id"]) == (200, 20, "toy.First-v0")
    path, token = f"/lease/{lease['lease']}", lease["token"]
    assert (await ask(served, "GET", "/readyz", None))[1]["leased"]
    assert await ask(served, "POST", path, token) == (
        200,
        {"lease": lease["lease"], "ttl_s": 20, "env_id": "toy.First-v0"},
    )
    assert (await ask(served, "DELETE", path, token))[0] == 200
    assert await ask(served, "POST", path, token) == (403, {"error": "the lease of this token has ended"})
    assert not (await ask(served, "GET", "/readyz", None))[1]["leased"]


async def test_second_claim_is_told_when_the_first_may_end(served: Served) -> None:
    assert (await ask(served, "POST", "/lease", AGENT))[0] == 200
    for secret in (PASSWORD, AGENT, OPERATOR):
        status, said = await ask(served, "POST", "/lease", secret)
        assert (status, said["error"]) == (409, "another agent has a lease on this remote")
        assert 0 < said["free_in_s"] <= 30
    served.service.leases.draining = True
    assert (await ask(served, "POST", "/lease", AGENT))[0] == 503


async def test_only_its_own_token_renews_a_lease_and_operators_may_end_it(served: Served) -> None:
    _, lease = await ask(served, "POST", "/lease", AGENT)
    path = f"/lease/{lease['lease']}"
    for secret in (AGENT, OBSERVER, PERSON, OPERATOR, PASSWORD):
        assert (await ask(served, "POST", path, secret))[0] == 403
    for secret in (AGENT, OBSERVER, PERSON):
        assert (await ask(served, "DELETE", path, secret))[0] == 403
    assert (await ask(served, "DELETE", "/lease/another", OPERATOR))[0] == 404
    assert (await ask(served, "DELETE", path, OPERATOR))[0] == 200


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b"{", "not JSON"),
        (b"[]", "expected a JSON object"),
        ({"ttl": 30}, "'ttl' is not known"),
        ({"ttl_s": 4}, "ttl_s is 4; expected 5 to 600"),
        (b"{" + b" " * MAX_BODY_BYTES, "too long"),
    ],
)
async def test_claim_that_cannot_be_read_is_refused_with_the_reason(served: Served, body: Any, fault: str) -> None:
    status, said = await ask(served, "POST", "/lease", AGENT, body)
    assert status == 400
    assert fault in said["error"]
    assert served.service.leases.lease is None


@pytest.mark.parametrize(
    ("path", "may"), [("/lease", {AGENT, PERSON, OPERATOR}), ("/restart", {OPERATOR}), ("/drain", {OPERATOR})]
)
async def test_role_decides_who_may(served: Served, path: str, may: set[str]) -> None:
    for secret in {AGENT, OBSERVER, PERSON, OPERATOR} - may:
        status, said = await ask(served, "POST", path, secret)
        assert status == 403
        assert "not permitted: this is the token of" in said["error"]
    assert (await ask(served, "POST", path, None))[0] == 401
    assert served.http_auth.throttle.wrong == 0
    assert (await ask(served, "POST", path, "somebodys-guess"))[0] == 401
    assert served.http_auth.throttle.wrong == 1
    assert (await ask(served, "POST", path, PASSWORD, Origin="http://elsewhere.example"))[0] == 403


async def test_restart_ends_the_episode_and_begins_another_in_a_new_program(served: Served) -> None:
    async with served.agent() as agent:
        await agent.assert_alive()
        before = served.service.program.pid
        assert (await ask(served, "POST", "/restart", OPERATOR))[0] == 202
        end = await agent.hear_method("v0.env.reward", done=True)
        assert end["body"]["info"]["reason"] == "restarted by operator ops"
        process = await served.toy.process()
        await process.begin()
        await agent.hear_method("v0.env.describe", env_state="running")
        assert served.service.program.pid != before
    assert not served.service.gave_up.done()


async def test_metrics_are_an_operators_where_there_are_tokens(served: Served) -> None:
    async with aiohttp.ClientSession(f"http://127.0.0.1:{served.port}") as session:
        for secret, status in ((None, 401), (AGENT, 403), (OPERATOR, 200), (PASSWORD, 200)):
            headers = {"Authorization": f"Bearer {secret}"} if secret else {}
            async with session.get("/metrics", headers=headers) as response:
                assert response.status == status


async def test_readyz_says_what_the_remote_is_doing(served: Served) -> None:
    async def phase() -> tuple[int, str]:
        status, said = await ask(served, "GET", "/readyz", None)
        return status, said["phase"]

    assert await phase() == (200, "idle")
    async with served.agent() as agent:
        await agent.assert_alive()
        assert await phase() == (200, "playing")
        await agent.reset("toy.First-v0", leaving=str(served.episode_id))
        await agent.hear_method("v0.env.describe", env_state="resetting")
        assert await phase() == (503, "resetting")
        served.service.leases.draining = True
        assert await phase() == (503, "draining")


async def test_each_action_is_audited_without_a_secret(served: Served) -> None:
    with audit.written_to(served.toy.directory / "audit"):
        await ask(served, "POST", "/restart", OPERATOR)
        await (await served.toy.process()).begin()
        _, lease = await ask(served, "POST", "/lease", AGENT)
        async with served.agent(observer=True):
            pass
        await ask(served, "DELETE", f"/lease/{lease['lease']}", lease["token"])
        await ask(served, "POST", "/drain", "a-wrong-guess")
        async with served.agent() as agent:
            await agent.reset("toy.First-v0")
            await eventually(lambda: served.service.sessions.agent is not None)
            await agent.assert_alive()
    text = (served.toy.directory / "audit").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    robot, leased = {"role": "agent", "name": "robot"}, {"role": "agent", "name": f"lease {lease['lease']}"}
    assert [(line["action"], line["who"]) for line in lines] == [
        ("restart", {"role": "operator", "name": "ops"}),
        ("lease taken", robot),
        ("lease given back", leased),
        ("wrong password", None),
        ("agent connected", {"role": "all", "name": "password"}),
        ("reset", {"role": "all", "name": "password"}),
    ]
    assert {line["where"] for line in lines} == {"127.0.0.1"}
    assert not any(secret in text for secret in (PASSWORD, AGENT, OPERATOR, lease["token"], "a-wrong-guess"))
