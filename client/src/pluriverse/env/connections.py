"""Connects an environment to its remotes, and connects again in the background when a connection breaks."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from pluriverse_protocol import metadata
from pluriverse_protocol.messages import Describe, Reset

from pluriverse.bell import Signal
from pluriverse.diagnostics import place_of
from pluriverse.errors import RemoteError, RemoteUnavailable
from pluriverse.remotes import Address, RemoteManager
from pluriverse.rewarder.connection import Credentials, RewarderConnection
from pluriverse.rewarder.loop import BackgroundLoop
from pluriverse.rfb import Region
from pluriverse.rfb.errors import RfbError
from pluriverse.rfb.picture import PictureSpec
from pluriverse.vnc import VncConnection, VncOptions, connect

log: Final = logging.getLogger(__name__)

# Both handshakes are some round trips each; a remote that takes longer is frozen or out of reach.
CONNECT_S: Final = 10.0
SCREEN_S: Final = 5.0

# Pauses between attempts to reach a broken remote: none at first, since most come back within a second.
BACKOFF_S: Final = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)

# Remotes that broke together shouldn't all be tried at the same moment.
JITTER: Final = 0.2

OpenScreen = Callable[[Address, Describe], VncConnection]


def open_screen(address: Address, described: Describe | None, options: VncOptions) -> VncConnection:
    """Connect to the screen of a remote; blocks. The metadata block comes along, whatever is wanted of the screen.

    Raises:
        RemoteUnavailable: it can't be reached, refuses, or doesn't speak RFB.
    """
    place = place_of(described.metadata_encoding) if described is not None else None
    if place is not None:
        block = Region(place.x, place.y, metadata.WIDTH, metadata.HEIGHT)
        if options.regions:
            options = replace(options, regions=[*options.regions, block])
        if options.picture != PictureSpec():
            options = replace(options, block=block)
    try:
        return connect(address.host, address.vnc_port, address.password, options=options, timeout_s=SCREEN_S)
    except (OSError, RfbError) as error:
        raise RemoteUnavailable(f"the screen at {address.host}:{address.vnc_port} can't be had: {error}") from error


class ResetRequests:
    """Makes the reset requests of an environment. Shared by the thread that steps and the one that connects.

    ``wanted``: the agent has asked for its first reset. ``seeds`` has one for each index; each is used once, so that
    later episodes differ.
    """

    def __init__(self, env_id: str | None, fps: float | None) -> None:
        """``env_id`` None: of whatever the remote plays."""
        self.wanted = False
        self.seeds: list[int | None] = []
        self._env_id = env_id
        self._fps = fps

    def send(self, index: int, rewarder: RewarderConnection) -> None:
        """Ask the remote of ``index`` for a new episode."""
        env_id = self._env_id
        if env_id is None:
            assert rewarder.described is not None
            env_id = rewarder.described.env_id
        seed, self.seeds[index] = self.seeds[index], None
        rewarder.reset(Reset(env_id, seed, self._fps))


@dataclass(slots=True)
class RemoteConnection:
    """Both connections to one remote; ``screen`` is None where the environment is played without."""

    address: Address
    rewarder: RewarderConnection
    screen: VncConnection | None

    @property
    def error(self) -> Exception | None:
        """Why the connection broke; None while it holds."""
        if self.rewarder.error is not None:
            return self.rewarder.error
        return self.screen.error if self.screen is not None else None

    async def close(self, loop: BackgroundLoop) -> None:
        """Close both."""
        await self.rewarder.close()
        if self.screen is not None:
            try:
                await loop.in_thread(self.screen.close)
            except RuntimeError:
                # When Python exits its executors are shut down before we are; nobody is left to be kept waiting.
                self.screen.close()


class RemoteConnections:
    """The connections of an environment: ``by_index[i]`` is None while that remote is away."""

    def __init__(
        self, manager: RemoteManager, open_screen: OpenScreen | None, resets: ResetRequests, *, observer: bool = False
    ) -> None:
        """``open_screen`` blocks; None for environments that are played without a screen."""
        self.signal: Signal = Signal()
        self.by_index: list[RemoteConnection | None] = [None] * manager.n
        self._manager = manager
        self._open_screen = open_screen
        self._resets = resets
        self._observer = observer
        self._closed = False
        self._loop = BackgroundLoop("pluriverse", workers=manager.n + 1)

    def connect(self, addresses: list[Address]) -> None:
        """Connect to all at once; blocks.

        Raises:
            RemoteUnavailable: one can't be reached, or refuses.
        """
        self._loop.submit(self._connect_all(addresses)).result()

    def open_screens(self, open_screen: OpenScreen) -> None:
        """Open the screens of remotes that are connected without, and from now on of all; blocks.

        Raises:
            RemoteUnavailable: one can't be reached, or refuses.
        """
        self._loop.submit(self._open_screens(open_screen)).result()

    def drop(self, index: int, *, recover: bool) -> None:
        """Close the broken connection of ``index``, and with ``recover`` make another one in the background."""
        connection, self.by_index[index] = self.by_index[index], None
        self._loop.submit(self._recover(index, connection, recover=recover))

    def hang_up(self) -> None:
        """Close all connections, and make no more."""
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

    async def _open_screens(self, open_screen: OpenScreen) -> None:
        self._open_screen = open_screen

        async def open_one(connection: RemoteConnection) -> None:
            described = connection.rewarder.described
            assert described is not None
            connection.screen = await self._loop.in_thread(lambda: self._screen(connection.address, described))

        try:
            async with asyncio.TaskGroup() as group:
                for connection in self.by_index:
                    if connection is not None and connection.screen is None:
                        group.create_task(open_one(connection))
        except* RemoteError as errors:
            raise errors.exceptions[0] from None
        self.signal.notify()

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
        connection = RemoteConnection(address, rewarder, screen)
        if self._closed:
            await connection.close(self._loop)
            raise RemoteUnavailable("the environment is being closed")
        if self._resets.wanted:
            self._resets.send(index, rewarder)
        self.by_index[index] = connection
        self.signal.notify()

    def _screen(self, address: Address, described: Describe) -> VncConnection:
        # A worker's thread can't be cancelled: a connection that comes after the end is closed at once.
        assert self._open_screen is not None
        screen = self._open_screen(address, described)
        if self._closed:
            screen.close()
            raise RemoteUnavailable("the environment is being closed")
        return screen

    async def _recover(self, index: int, connection: RemoteConnection | None, *, recover: bool) -> None:
        if connection is not None:
            await connection.close(self._loop)
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
        connections = [connection for connection in self.by_index if connection is not None]
        self.by_index = [None] * len(self.by_index)
        await asyncio.gather(*(connection.close(self._loop) for connection in connections), return_exceptions=True)
