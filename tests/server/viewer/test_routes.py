import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

import aiohttp
import pytest
from aiohttp import WSMsgType
from pluriverse_server.viewer import routes, sessions
from support.desktop import Desktop
from support.viewer_remote import EYE, Remote, serve_viewer
from support.waiting import DEADLINE_S
from yarl import URL

pytestmark = [pytest.mark.display, pytest.mark.asyncio(loop_scope="module")]


async def test_address_without_its_slash_leads_to_the_page_and_repeats_no_password(
    remote: Remote, session: aiohttp.ClientSession
) -> None:
    async with session.get(remote.url("").rstrip("/") + "?password=a%26b", allow_redirects=False) as answer:
        assert answer.status == 308
        assert answer.headers["Location"] == "viewer/"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Referrer-Policy"] == "no-referrer"


async def test_page_is_served_without_a_password_and_with_its_guards(
    remote: Remote, session: aiohttp.ClientSession
) -> None:
    async with session.get(remote.url("")) as answer:
        assert answer.status == 200
        assert "<title>pluriverse</title>" in await answer.text()
        assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "path", ["static/", "static/vendor/", "static/../routes.py", "static/%2e%2e/routes.py", "static/..%2froutes.py"]
)
async def test_neither_folders_nor_files_outside_are_served(
    remote: Remote, session: aiohttp.ClientSession, path: str
) -> None:
    async with session.get(URL(remote.url(path), encoded=True)) as answer:
        assert answer.status in (403, 404)


@pytest.mark.parametrize("path", ["vnc", "state", "vnc?password=wrong", "state?password=wrong"])
async def test_sockets_need_the_password(remote: Remote, session: aiohttp.ClientSession, path: str) -> None:
    async with session.get(remote.url(path)) as answer:
        assert answer.status == 401
        assert "password" in await answer.text()
    with pytest.raises(aiohttp.WSServerHandshakeError, match="401"):
        await session.ws_connect(remote.url(path))


@pytest.mark.parametrize(("password", "granted"), [("sesame", True), ("wrong", False), ("", False)])
async def test_access_says_whether_a_password_is_right(
    remote: Remote, session: aiohttp.ClientSession, password: str, granted: bool
) -> None:
    async with session.get(remote.url("access"), params={"password": password}) as answer:
        assert await answer.json() == {"granted": granted, "control": granted}


async def test_token_that_is_taken_away_ends_its_connections(remote: Remote, session: aiohttp.ClientSession) -> None:
    async with (
        session.ws_connect(remote.url(f"state?password={EYE}")) as feed,
        session.ws_connect(remote.url("state?password=sesame")) as other,
    ):
        await feed.receive_json()
        remote.http_auth.secrets.replace_listed(())
        async with asyncio.timeout(DEADLINE_S):
            while (await feed.receive()).type is WSMsgType.TEXT:
                pass
        assert feed.closed
        assert (await other.receive()).type is WSMsgType.TEXT


@pytest.mark.parametrize("origin", ["http://elsewhere.example", "http://127.0.0.1:1"])
@pytest.mark.parametrize("path", ["vnc", "state"])
async def test_another_sites_page_is_kept_out_even_with_the_password(
    remote: Remote, session: aiohttp.ClientSession, path: str, origin: str
) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
        await session.ws_connect(remote.url(f"{path}?password=sesame"), origin=origin)


async def test_one_viewer_too_many_is_told_why(
    remote: Remote, desktop: Desktop, session: aiohttp.ClientSession
) -> None:
    del desktop
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(sessions.MAX_VIEWERS):
            websocket = await stack.enter_async_context(session.ws_connect(remote.url("vnc?password=sesame")))
            await websocket.receive(timeout=60)
        assert remote.sessions.viewers == sessions.MAX_VIEWERS
        extra = await stack.enter_async_context(session.ws_connect(remote.url("vnc?password=sesame")))
        refusal = await extra.receive(timeout=60)
        assert (refusal.type, refusal.data) == (WSMsgType.CLOSE, aiohttp.WSCloseCode.TRY_AGAIN_LATER)
        assert str(sessions.MAX_VIEWERS) in (refusal.extra or "")


async def test_who_may_control_asks_and_is_told_what_is_refused(remote: Remote, session: aiohttp.ClientSession) -> None:
    async def double(asked: Mapping[str, Any]) -> int:
        if asked["number"] > 9:
            raise routes.Refused("too large")
        return 2 * asked["number"]

    remote.questions["double"] = double

    async def ask(address: str, question: str = '{"number": 3}') -> tuple[int, str]:
        async with session.post(remote.url(f"ask/{address}"), data=question) as answer:
            return answer.status, await answer.text()

    assert await ask("double?password=sesame") == (200, "6")
    assert await ask("double?password=sesame", '{"number": 10}') == (409, "too large")
    for question in ("{}", "[]", "{"):
        assert (await ask("double?password=sesame", question))[0] == 400
    assert (await ask("other?password=sesame"))[0] == 404
    assert (await ask(f"double?password={EYE}"))[0] == 403
    assert (await ask("double"))[0] == 401


async def test_shutdown_tells_every_page(desktop: Desktop, session: aiohttp.ClientSession) -> None:
    stack = contextlib.AsyncExitStack()
    remote = await stack.enter_async_context(serve_viewer(desktop.vnc_socket))
    async with (
        session.ws_connect(remote.url("vnc?password=sesame&control=1")) as picture,
        session.ws_connect(remote.url("state?password=sesame")) as state,
    ):
        await picture.receive(timeout=60)
        await state.receive(timeout=60)
        closing = asyncio.create_task(stack.aclose())
        for websocket in (picture, state):
            while (message := await websocket.receive(timeout=60)).type is not WSMsgType.CLOSE:
                assert message.type in (WSMsgType.BINARY, WSMsgType.TEXT)
            assert (message.data, message.extra) == (1001, "the remote is shutting down")
        await closing
