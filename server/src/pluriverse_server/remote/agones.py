"""Tells the sidecar of Agones how this remote does: ready, well, leased, at its end.

The sidecar's HTTP interface: https://agones.dev/site/docs/guides/client-sdks/rest/
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import aiohttp

log = logging.getLogger(__name__)

# A server that is allocated isn't removed when there are too many: the sooner Agones knows, the better.
LOOK_S: Final = 0.2

# A Fleet that takes three missed in ten seconds each for sick, as ours does, is content with one every two.
HEALTH_S: Final = 2.0

# The sidecar is on the other end of the loopback.
ANSWER_S: Final = 2.0

READY, HEALTH, ALLOCATE, SHUTDOWN = "/ready", "/health", "/allocate", "/shutdown"


@dataclass(frozen=True, slots=True)
class Condition:
    """How a remote does: ``ready`` while its environment runs, ``well`` while its screen answers."""

    ready: bool
    well: bool
    leased: bool


async def keep_told(port: int, look: Callable[[], Condition]) -> None:
    """Tell the sidecar at a port of this machine of each change, until cancelled; then that this is the end.

    It may start after this, and restart: what it didn't hear is said again.
    """
    timeout = aiohttp.ClientTimeout(total=ANSWER_S)
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}", timeout=timeout) as session:
        try:
            await _keep_told(session, look)
        finally:
            await _post(session, SHUTDOWN)


async def _keep_told(session: aiohttp.ClientSession, look: Callable[[], Condition]) -> None:
    loop = asyncio.get_running_loop()
    said: str | None = None
    next_health = loop.time()
    heard = True
    while True:
        condition = look()
        if condition.well and loop.time() >= next_health:
            next_health = loop.time() + HEALTH_S
            before, heard = heard, await _post(session, HEALTH)
            if before and not heard:
                log.warning("the sidecar of Agones doesn't answer; trying on")
            elif heard and not before:
                log.info("the sidecar of Agones answers")
        # Between a lease and the next it stays allocated until it is ready.
        wanted = ALLOCATE if condition.leased else READY if condition.ready else said
        if wanted is not None and wanted != said and await _post(session, wanted):
            said = wanted
        await asyncio.sleep(LOOK_S)


async def _post(session: aiohttp.ClientSession, path: str) -> bool:
    """Return whether the sidecar took it."""
    with contextlib.suppress(aiohttp.ClientError, TimeoutError):
        async with session.post(path, json={}) as answer:
            return answer.ok
    return False
