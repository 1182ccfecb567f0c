"""Carries bytes between two connections of the event loop, neither read faster than the other takes them."""

from __future__ import annotations

import asyncio
from typing import Final, cast

# What may wait for a slow peer before the other side is no longer read: a few encoded pictures of a common screen.
BUFFER_BYTES: Final = 256 * 1024


class Half(asyncio.Protocol):
    """One of two connections. Once ``join`` was called, what it receives is sent by the other."""

    transport: asyncio.Transport
    other: Half | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.transport.set_write_buffer_limits(high=BUFFER_BYTES)

    def data_received(self, data: bytes) -> None:
        if self.other is not None:
            self.other.send(data)

    def send(self, data: bytes) -> None:
        self.transport.write(data)

    def end(self) -> None:
        self.transport.close()

    def pause_writing(self) -> None:
        """Read no more of the other until this one has taken what waits."""
        if self.other is not None:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other is not None:
            self.other.transport.resume_reading()

    def eof_received(self) -> bool:
        """End the connection: nothing is sent to one who no longer sends."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        if self.other is not None:
            self.other.end()
            self.other.other = self.other = None


def join(one: Half, another: Half) -> None:
    """Carry bytes between the two from now on; when one ends, so does the other."""
    one.other, another.other = another, one
