"""Keeps a link to each remote: connects, and when one breaks, connects again in the background."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pluriverse_protocol.messages import Describe

from pluriverse.errors import RemoteError, RemoteUnavailable
from pluriverse.remotes import Address, RemoteManager
from pluriverse.rewarder.connection import Credentials, RewarderConnection
from pluriverse.rewarder.loop import BackgroundLoop
from pluriverse.rewarder.signal import Signal
from pluriverse.vnc import VncConnection

from .resets import Resets

log = logging.getLogger(__name__)

# Both handshakes are some round trips each; a remote that takes longer is frozen or out of reach.
CONNECT_S: Final = 10.0

# Between attempts to reach a broken remote: at first at once, since most come back within a second, then less often.
BACKOFF_S: Final = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)

# Remotes that broke together shouldn't all be tried at the same moment.
JITTER: Final = 0.2

OpenScreen = Callable[[Address, Describe], VncConnection]


@dataclass(slots=True)
class Link:
    """Both connections to one remote; ``screen`` is None where the environment is played without."""

    address: Address
    rewarder: RewarderConnection
    screen: VncConnection | None

    @property
    def error(self) -> Exception | None:
        """Why it has broken; None while it holds."""
        if self.rewarder.error is not None:
            return self.rewarder.error
        return self.screen.error if self.screen is not None else None

    async def close(self, loop: BackgroundLoop) -> None:
        """Hang up on both."""
        await self.rewarder.close()
        if self.screen is not None:
            try:
                await loop.in_thread(self.screen.close)
            except RuntimeError:
                # When Python exits its executors are shut down before we are; then there is nobody to keep waiting.
                self.screen.close()


class Keeper:
    """The links of an environment, by index. ``links[i]`` is None while that remote is away."""

    def __init__(
        self, manager: RemoteManager, open_screen: OpenScreen | None, resets: Resets, *, observer: bool = False
    ) -> None:
        """Nothing is connected yet. ``open_screen`` blocks; None for environments that are played without a screen."""
        self.signal = Signal()
        self.links: list[Link | None] = [None] * manager.n
        self._manager = manager
        self._open_screen = open_screen
        self._resets = resets
        self._observer = observer
        self._closed = False
        self._loop = BackgroundLoop("pluriverse", workers=manager.n + 1)

    def connect(self, addresses: list[Address]) -> None:
        """Connect to all, side by side.

        Raises:
            RemoteUnavailable: one can't be reached, or refuses.
        """
        self._loop.submit(self._connect_all(addresses)).result()

    def lost(self, index: int, *, recover: bool) -> None:
        """The link of ``index`` has broken: hang up, and ``recover`` it in the background."""
        link, self.links[index] = self.links[index], None
        self._loop.submit(self._recover(index, link, recover=recover))

    def hang_up(self) -> None:
        """Hang up on all, and connect no more; the remotes are their manager's."""
        self._closed = True
        self._loop.submit(self._close_all()).result()

    def close(self) -> None:
        """End the threads, after ``hang_up``; may be called repeatedly."""
        self._loop.close()

    async def _connect_all(self, addresses: list[Address]) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for index, address in enumerate(addresses):
                    group.create_task(self._connect(index, address))
        except* RemoteError as errors:
            raise errors.exceptions[0] from None

    async def _connect(self, index: int, address: Address) -> None:
        credentials = Credentials(address.host, address.rewarder_port, address.password, observer=self._observer)
        rewarder = await RewarderConnection.open(credentials, on_change=self.signal.notify, timeout_s=CONNECT_S)
        try:
            assert rewarder.described is not None
            described = rewarder.described
            screen = await self._loop.in_thread(lambda: self._screen(address, described)) if self._open_screen else None
        except BaseException:
            await rewarder.close()
            raise
        link = Link(address, rewarder, screen)
        if self._closed:
            await link.close(self._loop)
            raise RemoteUnavailable("the environment is being closed")
        if self._resets.wanted:
            rewarder.reset(self._resets.make(index, rewarder))
        self.links[index] = link
        self.signal.notify()

    def _screen(self, address: Address, described: Describe) -> VncConnection:
        """In a worker's thread, which can't be cancelled: what it brings after the end is closed at once."""
        assert self._open_screen is not None
        screen = self._open_screen(address, described)
        if self._closed:
            screen.close()
            raise RemoteUnavailable("the environment is being closed")
        return screen

    async def _recover(self, index: int, link: Link | None, *, recover: bool) -> None:
        if link is not None:
            await link.close(self._loop)
        attempt = 0
        while recover and not self._closed:
            pause = BACKOFF_S[min(attempt, len(BACKOFF_S) - 1)]
            await asyncio.sleep(pause * random.uniform(1 - JITTER, 1 + JITTER))  # noqa: S311 - no secret
            attempt += 1
            try:
                address = await self._loop.in_thread(lambda: self._manager.replace(index))
                await self._connect(index, address)
            except RemoteError as error:
                log.warning("remote %d is still away (attempt %d): %s", index, attempt, error)
            else:
                log.info("remote %d is back at %s", index, address)
                return

    async def _close_all(self) -> None:
        links = [link for link in self.links if link is not None]
        self.links = [None] * len(self.links)
        await asyncio.gather(*(link.close(self._loop) for link in links), return_exceptions=True)
