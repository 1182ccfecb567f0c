"""The VNC proxy's connection to the VNC server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pluriverse_protocol.rfb.errors import RfbError
from pluriverse_protocol.rfb.handshake import Handshake, ServerInit

from .pump import Half

# A VNC server that died is back within a second or two; its clients need not notice before they are let in.
CONNECT_S: Final = 5.0
RETRY_S: Final = 0.05


class VncServerLost(Exception):
    """The VNC server can't be reached, or doesn't speak RFB."""


class VncServerHalf(Half):
    """A connection to the VNC server, which lets everybody in. ``desktop`` is set once the handshake is over."""

    def __init__(self, heard: Callable[[], object]) -> None:
        self._heard = heard
        self.desktop: asyncio.Future[ServerInit] = asyncio.get_running_loop().create_future()
        self._handshake = Handshake()

    @property
    def leftover(self) -> bytes:
        """What came after the handshake before the connection was joined to a client's."""
        return self._handshake.leftover

    def data_received(self, data: bytes) -> None:
        self._heard()
        if self.desktop.done():
            super().data_received(data)
            return
        try:
            self.transport.write(self._handshake.feed(data))
        except RfbError as error:
            self._fail(str(error))
            self.transport.abort()
        if self._handshake.done is not None and not self.desktop.done():
            self.desktop.set_result(self._handshake.done)
            # Until it is joined, which reads on.
            self.transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(str(exc or "it hung up"))
        super().connection_lost(exc)

    def _fail(self, why: str) -> None:
        if not self.desktop.done():
            self.desktop.set_exception(VncServerLost(f"the VNC server was lost: {why}"))
            # Who gave up before it was connected doesn't ask.
            self.desktop.exception()


async def connect(
    socket: Path, within_s: float = CONNECT_S, heard: Callable[[], object] = lambda: None
) -> VncServerHalf:
    """Connect to the VNC server, shake hands, and call ``heard`` whenever it has sent something.

    Wait ``within_s`` seconds for one that is being started again.
    """
    loop = asyncio.get_running_loop()
    why = "nothing listens"
    try:
        async with asyncio.timeout(within_s):
            while True:
                try:
                    transport, half = await loop.create_unix_connection(lambda: VncServerHalf(heard), str(socket))
                except OSError as error:
                    why = str(error)
                    await asyncio.sleep(RETRY_S)
                    continue
                why = "it listens, but doesn't answer"
                try:
                    await half.desktop
                except BaseException:
                    transport.abort()
                    raise
                return half
    except TimeoutError:
        raise VncServerLost(f"the VNC server did not answer within {within_s:g} s: {why}") from None
