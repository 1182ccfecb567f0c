"""Every update of a screen, lossless, for recordings; from a VNC server of its own on a private socket.

The remote's own port may have a password, and agents on it that must not wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final, Self

from pluriverse_protocol.rfb import messages
from pluriverse_protocol.rfb.errors import RfbError
from pluriverse_protocol.rfb.geometry import Region
from pluriverse_protocol.rfb.handshake import Handshake
from pluriverse_protocol.rfb.numbers import Encoding
from pluriverse_protocol.rfb.pixel_format import BYTES_PER_PIXEL
from pluriverse_protocol.rfb.raw_updates import raw_update
from pluriverse_protocol.rfb.server_stream import ServerStream
from pluriverse_protocol.rfb.steps import Steps
from pluriverse_server.display import vnc
from pluriverse_server.process import ChildProcess, StartError, executable

SERVER_NAME: Final = "recorder's VNC server"
SOCKET_NAME: Final = "recorder.sock"

# It takes a millisecond.
HANDSHAKE_DEADLINE_S: Final = 5.0

# A whole picture of a common screen is 3 MB; asyncio stops and starts reading whenever so much waits.
BUFFER_BYTES: Final = 4 * 1024 * 1024

# A request is sent so much of a frame after the last one: a program that draws just so many frames a second is never
# a frame behind because its clock and ours differ.
PACE: Final = 0.8

# The cursor is named so that the server leaves the pointer out of the picture, as X does; its shape is dropped.
ENCODINGS: Final = (Encoding.RAW, Encoding.CURSOR)


class TapLost(Exception):
    """There are no more pictures: the server is gone, or sends something invalid."""


class VncTap:
    """One screen's updates. Made by ``start``, which starts the server too; ``close`` ends both."""

    def __init__(self, server: ChildProcess, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._server = server
        self._reader = reader
        self._writer = writer
        self.width = 0
        self.height = 0
        self._stream = ServerStream(0, 0, {})
        self._parts: list[tuple[Region, bytes]] = []

    @classmethod
    async def start(cls, environment: Mapping[str, str], folder: Path) -> Self:
        """Start a server for the screen of ``environment`` (DISPLAY, XAUTHORITY) in a private folder, and connect."""
        path = folder / SOCKET_NAME
        program = executable("X0tigervnc", package="tigervnc-scraping-server")
        arguments = await vnc.arguments(program, socket=path, name=SERVER_NAME)
        command = [program, f"-display={environment['DISPLAY']}", *arguments]
        server = await ChildProcess.start(SERVER_NAME, command, env=vnc.environment(environment))
        try:
            await vnc.wait_for_banner(server, path)
            try:
                reader, writer = await asyncio.open_unix_connection(path, limit=BUFFER_BYTES)
            except OSError as error:
                raise StartError(f"the {SERVER_NAME} can't be used: {error}\n{server.output_tail}") from error
            tap = cls(server, reader, writer)
            try:
                await tap._shake_hands()
            except BaseException:
                writer.close()
                raise
        except BaseException:
            await server.stop()
            raise
        return tap

    def require_size(self, width: int, height: int) -> None:
        if (self.width, self.height) != (width, height):
            raise StartError(f"the screen is {self.width}x{self.height}, and should be {width}x{height}")

    async def run(self, fps: float, take: Callable[[float, bytes], Awaitable[None]]) -> None:
        """Call ``take`` with each update and the UNIX time when it began to come, ``fps`` / PACE a second at most."""
        loop = asyncio.get_running_loop()
        incremental = False
        try:
            while True:
                asked_at = loop.time()
                self._writer.write(
                    messages.framebuffer_update_request(0, 0, self.width, self.height, incremental=incremental)
                )
                incremental = True
                at, message = await self._update()
                if message is not None:
                    await take(at, message)
                await asyncio.sleep(max(0.0, asked_at + PACE / fps - loop.time()))
        except (OSError, RfbError) as error:
            raise TapLost(f"the {SERVER_NAME} hung up ({error}); has the screen died?") from error

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()
        await self._server.stop()

    async def _shake_hands(self) -> None:
        handshake = Handshake()
        try:
            async with asyncio.timeout(HANDSHAKE_DEADLINE_S):
                while handshake.done is None:
                    data = await self._reader.read(BUFFER_BYTES)
                    if not data:
                        raise handshake.hung_up()
                    self._writer.write(handshake.feed(data))
        except (OSError, RfbError, TimeoutError) as error:
            raise StartError(f"the {SERVER_NAME} can't be used: {error}\n{self._server.output_tail}") from error
        self.width, self.height = handshake.done.width, handshake.done.height
        self._stream = ServerStream(self.width, self.height, {Encoding.RAW: self._read_raw})
        self._writer.write(messages.set_pixel_format() + messages.set_encodings(ENCODINGS))

    def _read_raw(self, r: Region) -> Steps[None]:
        self._parts.append((r, (yield r.width * r.height * BYTES_PER_PIXEL)))

    async def _update(self) -> tuple[float, bytes | None]:
        """Return when the next update began to come, and its Raw rectangles; None where it had none."""
        began_at: float | None = None
        done = self._stream.updates + 1
        while self._stream.updates < done:
            data = await self._reader.read(BUFFER_BYTES)
            if not data:
                raise ConnectionError("the connection was closed")
            received_at = time.time()
            self._stream.feed(data)
            if began_at is None and (self._stream.in_update or self._stream.updates == done):
                began_at = received_at
        parts, self._parts = self._parts, []
        assert began_at is not None
        return began_at, raw_update(parts) if parts else None
