"""``pluriverse ping``: times to connect and to the first picture, round trips, and clocks."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Iterator
from typing import Final

from . import steady
from .env.connections import open_screen
from .errors import RemoteUnavailable
from .remotes import Address
from .rewarder.connection import FIRST_PINGS, PING_S, Credentials, RewarderConnection
from .vnc import VncOptions, wait_for_frames

CONNECT_S: Final = 10.0

# A VNC server answers the first request with the whole screen; behind a slow line that takes a while.
PICTURE_S: Final = 10.0


def examine(address: Address, count: int) -> Iterator[str]:
    """Connect to a remote as an observer, and to its screen; yield a line for each finding."""
    yield f"remote {address}"
    yield from asyncio.run(_examine_rewarder(address, count))
    yield from _examine_screen(address)


async def _examine_rewarder(address: Address, count: int) -> list[str]:
    credentials = Credentials(address.endpoint, observer=True)
    began = time.perf_counter()
    connection = await RewarderConnection.open(credentials, on_change=lambda: None, timeout_s=CONNECT_S)
    connected_s = time.perf_counter() - began
    try:
        deadline = time.monotonic() + CONNECT_S + count * PING_S
        while connection.error is None and connection.pings < count:
            if time.monotonic() > deadline:
                raise RemoteUnavailable(f"the rewarder at {address.endpoint} doesn't answer pings")
            await asyncio.sleep(PING_S / FIRST_PINGS / 10)
        if connection.error is not None:
            raise connection.error
        described, skew = connection.described, connection.clock.skew(steady.now())
        assert described is not None
        assert skew is not None
        trips = sorted(connection.round_trips_s)
        return [
            f"  rewarder  {described.env_id} of {described.runtime or 'an old runtime'}, {described.env_state}, "
            f"{described.fps:g} fps; connected in {connected_s * 1000:.1f} ms",
            f"  pings     {len(trips)}: min {trips[0] * 1000:.2f} ms, median {statistics.median(trips) * 1000:.2f} ms, "
            f"max {trips[-1] * 1000:.2f} ms",
            f"  clock     ours is {skew.low * 1000:.2f} to {skew.high * 1000:.2f} ms ahead",
        ]
    finally:
        await connection.close()


def _examine_screen(address: Address) -> Iterator[str]:
    began = time.perf_counter()
    screen = open_screen(address, None, VncOptions())
    try:
        connected_s = time.perf_counter() - began
        if not wait_for_frames([screen], PICTURE_S):
            raise RemoteUnavailable(f"the screen at {address.screen_name} showed nothing: {screen.error}")
        picture_s = time.perf_counter() - began
        yield (
            f"  screen    {screen.width}x{screen.height}; connected in {connected_s * 1000:.1f} ms, "
            f"first picture after {picture_s * 1000:.1f} ms"
        )
    finally:
        screen.close()
