"""Whether the servers of a screen still answer: one that was stopped, or hangs, ends no connection by itself.

A check leaves before it is a client: while X0tigervnc has one it takes a picture of all that is drawn, whether
that client wants it or not: docs/decisions/0012-a-gate-before-tigervnc.md.
"""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from pluriverse_protocol.rfb.handshake import VERSION_BYTES

from pluriverse_server.x11.connection import SETUP, address

# How often they are asked. They answer within milliseconds; both take 0.05 % of a core at this pace.
ASK_EVERY_S: Final = 2.0
ANSWER_S: Final = 1.5

# While the screen is still and unwatched: when a program is paused, its remote idles too.
ASK_SELDOM_S: Final = 30.0

# A whole machine may have been suspended in the middle of one question, but hardly in two that follow each other.
MISSES: Final = 2

# A server that works meanwhile isn't hung, but on a machine with too much to do; it gets so many questions.
MISSES_OF_BUSY: Final = 6


async def vnc_answers(socket: Path) -> bool:
    """Whether a VNC server greets, and agrees on a version of RFB with one who leaves then."""
    return await _answers(socket, _agree_on_version)


async def x_answers(display: str) -> bool:
    return await _answers(address(display), _set_up)


async def _answers(
    socket: Path | str, ask: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[object]]
) -> bool:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + ANSWER_S
    try:
        async with asyncio.timeout_at(deadline):
            reader, writer = await asyncio.open_unix_connection(socket)
            try:
                await ask(reader, writer)
            finally:
                writer.close()
    except (OSError, EOFError) as error:  # TimeoutError is one
        # That it can't be asked is not its fault.
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            return True
        # One that has ended refuses at once, and so does one whose queue is full: neither is hung before its time.
        await asyncio.sleep(deadline - loop.time())
        return False
    return True


async def _agree_on_version(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(await reader.readexactly(VERSION_BYTES))
    # How many types of security there are. Once it has chosen one it would be a client.
    await reader.readexactly(1)


async def _set_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(SETUP)
    await reader.readexactly(1)
