"""The picture of a recording: every update of a screen, lossless, from a VNC server of its own on a private socket.

The remote's own port may have a password, and agents on it that are not to be kept waiting.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final, Self

from pluriverse_protocol.raw_updates import BYTES_PER_PIXEL

from pluriverse_server.display import vnc
from pluriverse_server.process import ChildProcess, StartError, child_environment, executable

SERVER_NAME: Final = "recorder's VNC server"
SOCKET_NAME: Final = "recorder.sock"

# It starts within 50 ms.
START_DEADLINE_S: Final = 5.0
KNOCK_INTERVAL_S: Final = 0.01

# A whole picture of a common screen is 3 MB; asyncio stops and starts reading whenever so much waits.
BUFFER_BYTES: Final = 4 * 1024 * 1024

# A request is sent so much of a frame after the last one: a program that draws just so many frames a second is never
# a frame behind because its clock and ours differ.
PACE: Final = 0.8

_VERSION: Final = b"RFB 003.008\n"
_NO_SECURITY: Final = 1
_RAW: Final = 0
# Asked for so that the server leaves the pointer out of the picture, as X does; its own picture is thrown away.
_CURSOR: Final = -239

# 32 bits a pixel, 24 deep, little-endian, true colour; red, green and blue at most 255, at bits 16, 8 and 0.
_PIXEL_FORMAT: Final = struct.pack(">BBBBHHHBBBxxx", 32, 24, 0, 1, 255, 255, 255, 16, 8, 0)
_RECTANGLE: Final = struct.Struct(">HHHHi")


class TapLost(Exception):
    """There are no more pictures: the server is gone, or says what this doesn't know."""


class VncTap:
    """One screen's updates. Made by ``start``, which starts the server too; ``close`` ends both."""

    def __init__(self, server: ChildProcess, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._server = server
        self._reader = reader
        self._writer = writer
        self.width = 0
        self.height = 0

    @classmethod
    async def start(cls, environment: Mapping[str, str], folder: Path) -> Self:
        """Look at the screen that ``environment`` (DISPLAY, XAUTHORITY) names; ``folder`` is private.

        Raises:
            StartError: there is no server to be had; says why.
        """
        path = folder / SOCKET_NAME
        program = executable("X0tigervnc", package="tigervnc-scraping-server")
        # As the remote's own, but that it listens on no port.
        arguments = await vnc.arguments(program, host="127.0.0.1", port=-1, name=SERVER_NAME, password_file=None)
        command = [program, f"-display={environment['DISPLAY']}", f"-rfbunixpath={path}", *arguments]
        server = await ChildProcess.start(SERVER_NAME, command, env=child_environment(environment))
        try:
            reader, writer = await _connect(server, path)
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
        """Make sure that the screen is as large as expected, in pixels.

        Raises:
            StartError: it isn't.
        """
        if (self.width, self.height) != (width, height):
            raise StartError(f"the screen is {self.width}x{self.height}, and should be {width}x{height}")

    async def run(self, fps: float, take: Callable[[float, bytes], Awaitable[None]]) -> None:
        """Give each update to ``take``, with the UNIX time when it began to come, at most ``fps`` / PACE a second.

        Raises:
            TapLost: the server is gone, or says what this doesn't know.
        """
        loop = asyncio.get_running_loop()
        incremental = False
        try:
            while True:
                asked_at = loop.time()
                self._writer.write(struct.pack(">BBHHHH", 3, incremental, 0, 0, self.width, self.height))
                incremental = True
                at, message = await self._update()
                if message is not None:
                    await take(at, message)
                await asyncio.sleep(max(0.0, asked_at + PACE / fps - loop.time()))
        except (asyncio.IncompleteReadError, OSError, struct.error) as error:
            raise TapLost(f"the {SERVER_NAME} hung up ({error}); has the screen died?") from error

    async def close(self) -> None:
        """Hang up, and end the server."""
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()
        await self._server.stop()

    async def _shake_hands(self) -> None:
        try:
            async with asyncio.timeout(START_DEADLINE_S):
                await self._reader.readexactly(len(_VERSION))
                self._writer.write(_VERSION)
                kinds = await self._reader.readexactly((await self._reader.readexactly(1))[0])
                if _NO_SECURITY not in kinds:
                    raise StartError(f"the {SERVER_NAME} asks for a password: {await self._reader.read(200)!r}")
                self._writer.write(bytes([_NO_SECURITY]))
                await self._reader.readexactly(4)
                self._writer.write(b"\1")
                init = await self._reader.readexactly(24)
                self.width, self.height, name_length = struct.unpack(">HH16xI", init)
                await self._reader.readexactly(name_length)
        except (asyncio.IncompleteReadError, OSError, TimeoutError) as error:
            raise StartError(f"the {SERVER_NAME} hung up: {error}\n{self._server.output_tail}") from error
        self._writer.write(struct.pack(">Bxxx", 0) + _PIXEL_FORMAT + struct.pack(">BxHii", 2, 2, _RAW, _CURSOR))

    async def _update(self) -> tuple[float, bytes | None]:
        """When the next update began to come, and its Raw rectangles; None where it had none."""
        while (kind := (await self._reader.readexactly(1))[0]) != 0:
            await self._skip(kind)
        at = time.time()
        (count,) = struct.unpack(">xH", await self._reader.readexactly(3))
        parts: list[bytes] = []
        for _ in range(count):
            head = await self._reader.readexactly(_RECTANGLE.size)
            _, _, width, height, encoding = _RECTANGLE.unpack(head)
            pixels = await self._reader.readexactly(width * height * BYTES_PER_PIXEL)
            if encoding == _RAW:
                parts += (head, pixels)
            elif encoding == _CURSOR:
                await self._reader.readexactly((width + 7) // 8 * height)
            else:
                raise TapLost(f"the {SERVER_NAME} sent a rectangle of encoding {encoding}, which wasn't asked for")
        if not parts:
            return at, None
        return at, b"".join([struct.pack(">BxH", 0, len(parts) // 2), *parts])

    async def _skip(self, kind: int) -> None:
        match kind:
            case 1:  # a colour map
                _, count = struct.unpack(">xHH", await self._reader.readexactly(5))
                await self._reader.readexactly(count * 6)
            case 2:  # the bell
                pass
            case 3:  # the clipboard
                (length,) = struct.unpack(">xxxI", await self._reader.readexactly(7))
                await self._reader.readexactly(length)
            case _:
                raise TapLost(f"the {SERVER_NAME} sent a message of type {kind}, which wasn't asked for")


async def _connect(server: ChildProcess, path: Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    try:
        async with asyncio.timeout(START_DEADLINE_S):
            while True:
                try:
                    return await asyncio.open_unix_connection(path, limit=BUFFER_BYTES)
                except OSError as error:
                    if server.returncode is not None:
                        await server.wait()  # for its last words
                        raise StartError(
                            f"the {SERVER_NAME} ended at once, {server.describe_end()}:\n{server.output_tail}"
                        ) from error
                await asyncio.sleep(KNOCK_INTERVAL_S)
    except TimeoutError:
        raise StartError(f"the {SERVER_NAME} did not answer within {START_DEADLINE_S:g} s") from None
