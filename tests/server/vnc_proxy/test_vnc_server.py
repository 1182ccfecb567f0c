import asyncio
import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from pluriverse_protocol.rfb.handshake import ServerInit
from pluriverse_protocol.rfb.pixel_format import BGRX
from pluriverse_protocol.rfb.server_handshake import server_init
from pluriverse_server.vnc_proxy.vnc_server import VncServerLost, connect

pytestmark = pytest.mark.display


@contextlib.asynccontextmanager
async def listening(path: Path, greeting: bytes) -> AsyncGenerator[None]:
    greeted: set[asyncio.Task[None] | None] = set()

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        greeted.add(asyncio.current_task())
        writer.write(greeting)
        with contextlib.suppress(OSError):
            await reader.read()
        writer.close()

    server = await asyncio.start_unix_server(greet, path)
    try:
        yield
    finally:
        server.close()
        await server.wait_closed()
        await asyncio.gather(*(task for task in greeted if task is not None))


async def test_server_that_is_being_started_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "vnc.sock"
    connecting = asyncio.create_task(connect(path))
    await asyncio.sleep(0)
    desktop = ServerInit(8, 6, BGRX, "a test")
    async with listening(path, b"RFB 003.008\n\x01\x01" + bytes(4) + server_init(desktop)):
        server = await connecting
        assert server.desktop.result() == desktop
        server.transport.abort()


async def test_nobody_there_is_lost(tmp_path: Path) -> None:
    with pytest.raises(VncServerLost, match=r"did not answer within 0.2 s: .*No such file"):
        await connect(tmp_path / "vnc.sock", 0.2)


async def test_server_that_says_nothing_is_lost(tmp_path: Path) -> None:
    async with listening(tmp_path / "vnc.sock", b""):
        with pytest.raises(VncServerLost, match="it listens, but doesn't answer"):
            await connect(tmp_path / "vnc.sock", 0.2)


async def test_server_that_speaks_something_else_is_lost(tmp_path: Path) -> None:
    async with listening(tmp_path / "vnc.sock", b"SSH-2.0-OpenSSH_9.2\r\n"):
        with pytest.raises(VncServerLost, match="greets with its version"):
            await connect(tmp_path / "vnc.sock")
