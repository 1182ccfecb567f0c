"""Whether the servers of a screen still answer: one that was stopped, or hangs, ends no connection by itself."""

from __future__ import annotations

import asyncio
import errno
import struct
from pathlib import Path
from typing import Final

from pluriverse_protocol.rfb import messages
from pluriverse_protocol.rfb.errors import RfbError
from pluriverse_protocol.rfb.geometry import Region
from pluriverse_protocol.rfb.handshake import Handshake
from pluriverse_protocol.rfb.numbers import Encoding
from pluriverse_protocol.rfb.pixel_format import BYTES_PER_PIXEL
from pluriverse_protocol.rfb.server_stream import ServerStream
from pluriverse_protocol.rfb.steps import Steps, skip

from .xserver import address

# How often they are asked. They answer within milliseconds; a VNC server without clients takes a picture of the whole
# screen for it, which costs 0.5 % of a core at this pace.
ASK_EVERY_S: Final = 2.0
ANSWER_S: Final = 1.5

# While nothing moves on the screen and nobody looks at it: where a program stands still, its remote does, too.
ASK_SELDOM_S: Final = 30.0

# A whole machine may have been suspended in the middle of one question, but hardly in two that follow each other.
MISSES: Final = 2

# A server that works meanwhile isn't hung, but on a machine with too much to do; it gets so many questions.
MISSES_OF_BUSY: Final = 6

# X's connection setup of a client that has no cookie, which is refused: an answer, too.
_X_SETUP: Final = struct.pack("<BxHHHHxx", ord("l"), 11, 0, 0, 0)

_RECEIVE_BYTES: Final = 4096


async def vnc_answers(socket: Path) -> bool:
    """Whether a VNC server that asks for no password lets a client in, and shows it a pixel."""
    try:
        async with asyncio.timeout(ANSWER_S):
            reader, writer = await asyncio.open_unix_connection(socket)
            try:
                return await _shows_a_pixel(reader, writer)
            finally:
                writer.close()
    except RfbError:
        return False
    except OSError as error:  # TimeoutError is one
        # That it can't be asked is not its fault.
        return error.errno in (errno.EMFILE, errno.ENFILE)


async def x_answers(display: str) -> bool:
    """Whether the X server of a display such as ``:17`` answers a new client."""
    try:
        async with asyncio.timeout(ANSWER_S):
            reader, writer = await asyncio.open_unix_connection(address(display))
            try:
                writer.write(_X_SETUP)
                return bool(await reader.read(1))
            finally:
                writer.close()
    except OSError:
        return False


async def _shows_a_pixel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    handshake = Handshake()
    while handshake.done is None:
        data = await reader.read(_RECEIVE_BYTES)
        if not data:
            return False
        writer.write(handshake.feed(data))
    stream = ServerStream(handshake.done.width, handshake.done.height, {Encoding.RAW: _skip_pixels})
    stream.feed(handshake.leftover)
    writer.write(messages.set_pixel_format() + messages.set_encodings([Encoding.RAW]))
    writer.write(messages.framebuffer_update_request(0, 0, 1, 1, incremental=False))
    while not stream.updates:
        data = await reader.read(_RECEIVE_BYTES)
        if not data:
            return False
        stream.feed(data)
    return True


def _skip_pixels(r: Region) -> Steps[None]:
    yield from skip(r.width * r.height * BYTES_PER_PIXEL)
