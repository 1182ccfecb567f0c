import asyncio
import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from pluriverse.errors import RemoteUnavailable
from pluriverse.remotes import health
from pluriverse.remotes.address import Address
from pluriverse.remotes.health import wait_until_ready, why_not_ready
from pluriverse_protocol.rfb.handshake import ServerInit
from pluriverse_protocol.rfb.pixel_format import BGRX
from pluriverse_protocol.rfb.server_handshake import server_init
from support.served import free_port, serving


@contextlib.asynccontextmanager
async def saying(says: bytes, *, asked: bool = False) -> AsyncGenerator[int]:
    """A VNC server that says this, and then nothing until it is hung up on; or one of HTTP, that is ``asked`` first."""

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if asked:
            await reader.readline()
        writer.write(says)
        if not asked:
            await reader.read()
        writer.close()

    async with await asyncio.start_server(respond, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


# The version, one way in that needs no password, and the result.
WELCOME = b"RFB 003.008\n\1\1\0\0\0\0" + server_init(ServerInit(4, 3, BGRX, "a test"))


async def test_remote_is_ready_once_it_runs_and_its_screen_answers(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, saying(WELCOME) as vnc_port:
        resetting = await asyncio.to_thread(why_not_ready, Address("127.0.0.1", vnc_port, served.port))
        assert resetting == "its environment is resetting"
        await served.running()
        assert await asyncio.to_thread(why_not_ready, Address("127.0.0.1", vnc_port, served.port)) is None
        served.screen_answers = False
        hung = await asyncio.to_thread(why_not_ready, Address("127.0.0.1", vnc_port, served.port))
        assert hung == "its screen does not answer"
        served.screen_answers = True
        served.service.leases.draining = True
        assert await asyncio.to_thread(why_not_ready, Address("127.0.0.1", vnc_port, served.port)) == "it is draining"
        served.service.leases.draining = False
        no_screen = await asyncio.to_thread(why_not_ready, Address("127.0.0.1", free_port(), served.port))
        assert no_screen is not None
        assert "refused" in no_screen


async def test_answer_that_is_nested_too_deeply_says_nothing_of_an_environment() -> None:
    async with saying(b"HTTP/1.1 503 No\r\n\r\n" + b"[" * 60_000, asked=True) as port:
        assert await asyncio.to_thread(why_not_ready, Address("127.0.0.1", port, port)) == "its environment is unknown"


@pytest.mark.parametrize("says", [b"", b"RFB 003.008\n", WELCOME[:-1]])
async def test_vnc_server_that_hangs_is_not_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: bytes) -> None:
    monkeypatch.setattr(health, "ANSWER_S", 0.5)
    async with serving(tmp_path) as served, saying(says) as vnc_port:
        await served.running()
        assert await asyncio.to_thread(why_not_ready, Address("127.0.0.1", vnc_port, served.port)) == "timed out"


async def test_vnc_server_that_refuses_the_password_answers(tmp_path: Path) -> None:
    refuses = b"RFB 003.008\n\1\2" + bytes(16) + b"\0\0\0\1\0\0\0\2no"
    async with serving(tmp_path) as served, saying(refuses) as vnc_port:
        await served.running()
        assert await asyncio.to_thread(why_not_ready, Address("127.0.0.1", vnc_port, served.port, "wrong")) is None


@pytest.mark.parametrize(
    "answer", [b"", b"\x00" * 100, b"HTTP/1.1 503 No\r\n\r\n[]", b"HTTP/1.1 503 No\r\n\r\nnonsense"]
)
async def test_what_is_no_remote_is_not_ready(answer: bytes) -> None:
    async with saying(answer, asked=True) as port:
        assert await asyncio.to_thread(why_not_ready, Address("127.0.0.1", 1, port)) is not None


def test_waiting_has_an_end_and_says_what_was_answered_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "ASK_AGAIN_S", 0.001)
    with pytest.raises(RemoteUnavailable, match=r"wasn't ready within 0\.01 s: .*refused"):
        wait_until_ready(Address("127.0.0.1", free_port(), free_port()), 0.01, lambda: None)
