from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from pluriverse.errors import RemoteUnavailable
from pluriverse.remotes import health
from pluriverse.remotes.address import Address
from pluriverse.remotes.health import wait_until_ready, why_not_ready
from support.served import free_port, serving


@contextlib.asynccontextmanager
async def answering(answer: bytes) -> AsyncGenerator[int]:
    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(answer)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(respond, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


async def test_remote_is_ready_once_it_runs_and_its_screen_answers(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, answering(b"RFB 003.008\n") as vnc_port:
        resetting = await asyncio.to_thread(why_not_ready, Address("127.0.0.1", vnc_port, served.port))
        assert resetting == "its environment is resetting"
        await served.running()
        assert await asyncio.to_thread(why_not_ready, Address("127.0.0.1", vnc_port, served.port)) is None
        no_screen = await asyncio.to_thread(why_not_ready, Address("127.0.0.1", free_port(), served.port))
        assert no_screen is not None
        assert "refused" in no_screen


@pytest.mark.parametrize(
    "answer", [b"", b"\x00" * 100, b"HTTP/1.1 503 No\r\n\r\n[]", b"HTTP/1.1 503 No\r\n\r\nnonsense"]
)
async def test_what_is_no_remote_is_not_ready(answer: bytes) -> None:
    async with answering(answer) as port:
        assert await asyncio.to_thread(why_not_ready, Address("127.0.0.1", 1, port)) is not None


def test_waiting_has_an_end_and_says_what_was_answered_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "ASK_AGAIN_S", 0.001)
    with pytest.raises(RemoteUnavailable, match=r"wasn't ready within 0\.01 s: .*refused"):
        wait_until_ready(Address("127.0.0.1", free_port(), free_port()), 0.01, lambda: None)


def test_waiting_ends_when_there_is_nothing_to_wait_for() -> None:
    def gone() -> None:
        raise RemoteUnavailable("it has ended")

    with pytest.raises(RemoteUnavailable, match="it has ended"):
        wait_until_ready(Address("127.0.0.1", free_port(), free_port()), 60.0, gone)
