"""Connects an environment to its remotes, and connects again in the background when a connection breaks.

A broken connection is restored first: the episode continues while the remote keeps the agent's seat. One that
can't be restored has an ``error``; the next step drops it, and makes another.
"""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from pluriverse_protocol import metadata
from pluriverse_protocol.env_options import Value
from pluriverse_protocol.limits import SEAT_KEPT_S
from pluriverse_protocol.messages import Describe, Reset

from pluriverse.diagnostics import place_of
from pluriverse.errors import (
    ConfigurationError,
    RemoteError,
    RemoteFailed,
    RemoteMisbehaved,
    RemoteUnavailable,
    printable,
)
from pluriverse.remotes import Address, Attached, RemoteManager
from pluriverse.rewarder.connection import Credentials, Refused, RewarderConnection
from pluriverse.rewarder.loop import BackgroundLoop
from pluriverse.rfb import Region
from pluriverse.rfb.errors import RfbError, RfbProtocolError
from pluriverse.rfb.picture import PictureSpec
from pluriverse.vnc import VncConnection, VncOptions, connect, connect_web
from pluriverse.waker import WAKER

log: Final = logging.getLogger(__name__)

# Both handshakes are some round trips each; a remote that takes longer is frozen or out of reach.
CONNECT_S: Final = 10.0
SCREEN_S: Final = 5.0

# Handshakes at once, so that each of a thousand has the time that one takes.
AT_ONCE: Final = 64

# One attempt to reconnect: a slow network answers within it, and a lost one isn't waited for any longer.
MEND_S: Final = 3.0

# One that was started here is asked no more where it answers nothing for so long: no network is in between.
FROZEN_S: Final = 1.5

# An agent names itself to its remotes by so many random bytes.
TOKEN_BYTES: Final = 16

# The first attempt is made at once, since most lines and remotes are back within a second; then the pauses double.
FIRST_PAUSE_S: Final = 0.1
GROWTH: Final = 2.0

# Often enough not to miss the time for which a seat is kept; then an outage becomes longer by a tenth at most, until
# the pauses are as websockets' are: a remote that doesn't come back is neither asked nor logged every few seconds.
LONG_PAUSE_S: Final = 3.0
SHARE_OF_OUTAGE: Final = 0.1
LONGEST_PAUSE_S: Final = 60.0

# Remotes that broke together shouldn't all be tried at the same moment.
JITTER: Final = 0.5

# A connection that held for so long was a good one; one that breaks sooner counts as another failed attempt.
STEADY_S: Final = 5.0

OpenScreen = Callable[[Address, Describe], VncConnection]
Clock = Literal["realtime", "lockstep"]


def open_screen(address: Address, described: Describe | None, options: VncOptions) -> VncConnection:
    """Connect to the screen of a remote; blocks. The metadata block comes along, whatever is wanted of the screen."""
    place = place_of(described.metadata_encoding) if described is not None else None
    if place is not None:
        block = Region(place.x, place.y, metadata.WIDTH, metadata.HEIGHT)
        if options.regions:
            options = replace(options, regions=[*options.regions, block])
        if options.picture != PictureSpec():
            options = replace(options, block=block)
    try:
        if address.vnc_port is None:
            return connect_web(address.endpoint, options=options, timeout_s=SCREEN_S)
        return connect(address.host, address.vnc_port, address.password, options=options, timeout_s=SCREEN_S)
    except (OSError, RfbError) as error:
        raise RemoteUnavailable(
            f"can't connect to the screen at {address.screen_name}: {printable(str(error))}"
        ) from error


class Backoff:
    """The pauses between attempts to reach one remote. Times, seconds of a steady clock, and chance are passed in."""

    def __init__(self) -> None:
        self._attempts = 0
        self._whole_since: float | None = None
        self._broken_since: float | None = None

    def broke(self, now: float) -> None:
        """Note that the connection broke; nothing changes if it was broken already."""
        if self._whole_since is None and self._broken_since is not None:
            return
        if self._whole_since is not None and now - self._whole_since >= STEADY_S:
            self._attempts = 0
        self._whole_since = None
        self._broken_since = now

    def whole(self, now: float) -> None:
        self._whole_since = now

    def broken_for(self, now: float) -> float:
        """Return for how long it has been broken; each time counts for itself."""
        return now - self._broken_since if self._broken_since is not None else 0.0

    def pause(self, now: float, chance: float) -> float:
        """Return the pause before the next attempt, in seconds. ``chance`` is random, from 0 to 1."""
        self._attempts += 1
        if self._attempts == 1:
            return 0.0
        # Not to a power without bounds: a remote may stay away for days.
        doublings = min(self._attempts - 2, 32)
        longest = max(LONG_PAUSE_S, SHARE_OF_OUTAGE * self.broken_for(now))
        pause = min(FIRST_PAUSE_S * GROWTH**doublings, longest, LONGEST_PAUSE_S)
        return pause * (1 - JITTER + 2 * JITTER * chance)


@dataclass(frozen=True, slots=True)
class Asked:
    """What resets ask for; ``env_id`` None: whatever the remote plays. An earlier agent's options don't apply."""

    env_id: str | None
    options: Mapping[str, Value] = field(default_factory=dict[str, Value])
    clock: Clock = "realtime"


class ResetRequests:
    """Makes the reset requests of an environment. Shared by the thread that steps and the one that connects.

    ``wanted``: the agent has asked for its first reset. ``seeds`` has one for each index; each is used once, so that
    later episodes differ. ``asked`` goes with every request.
    """

    def __init__(self, env_id: str | None, fps: float | None) -> None:
        self.wanted = False
        self.seeds: list[int | None] = []
        self.asked = Asked(env_id)
        self._fps = fps

    def send(self, index: int, rewarder: RewarderConnection) -> None:
        """Ask the remote of ``index`` for a new episode."""
        asked, env_id = self.asked, self.asked.env_id
        if env_id is None:
            assert rewarder.described is not None
            env_id = rewarder.described.env_id
        seed, self.seeds[index] = self.seeds[index], None
        clock = None if asked.clock == "realtime" else asked.clock
        rewarder.reset(Reset(env_id, seed, self._fps, asked.options, clock))


@dataclass(slots=True)
class RemoteConnection:
    """Both connections to one remote; ``screen`` is None where the environment is played without.

    ``mended`` counts reconnections; ``given_up`` is why it can't reconnect. Without ``mends`` it never does.
    """

    address: Address
    rewarder: RewarderConnection
    screen: VncConnection | None
    mends: bool = True
    mended: int = 0
    given_up: Exception | None = None
    mending: asyncio.Task[None] | None = field(default=None, repr=False)

    @property
    def error(self) -> Exception | None:
        """Why the connection is lost; None while it holds, or is being restored."""
        error = self.rewarder.error or self.given_up
        if error is None and self.screen is not None:
            fault = self.screen.error
            if isinstance(fault, RfbProtocolError):
                return RemoteMisbehaved(f"the screen at {self.address.screen_name} broke RFB: {printable(str(fault))}")
            return None if self.mends else fault
        return error

    @property
    def broken(self) -> str | None:
        """Why a line of it is broken; None while it holds."""
        if self.rewarder.lost is not None:
            return self.rewarder.lost
        error = self.screen.error if self.screen is not None else None
        return printable(str(error)) if error is not None else None

    async def stop_mending(self) -> None:
        if self.mending is not None:
            self.mending.cancel()
            await asyncio.wait([self.mending])
            self.mending = None

    async def close(self, loop: BackgroundLoop) -> None:
        await self.stop_mending()
        await self.rewarder.close()
        if self.screen is not None:
            try:
                await loop.in_thread(self.screen.close)
            except RuntimeError:
                # When Python exits, its executors shut down before this; no caller is waiting.
                self.screen.close()


class RemoteConnections:
    """The connections of an environment: ``by_index[i]`` is None while that remote is away."""

    def __init__(
        self,
        manager: RemoteManager,
        open_screen: OpenScreen | None,
        resets: ResetRequests,
        *,
        observer: bool = False,
        take_over: bool = False,
        mend: bool = True,
    ) -> None:
        """``open_screen`` blocks; None for environments that are played without a screen.

        ``take_over``: take the place of other agents, once: two that do so forever would throw each other out.

        ``mend``: restore broken connections; otherwise they are errors at once.
        """
        self.news: list[int] = [0] * manager.n
        """How often something has happened to each so far."""
        self.by_index: list[RemoteConnection | None] = [None] * manager.n
        self._manager = manager
        self._open_screen = open_screen
        self._resets = resets
        self._observer = observer
        self._take_over = take_over
        self._mends = mend
        self._tokens = [secrets.token_hex(TOKEN_BYTES) for _ in range(manager.n)]
        self._backoffs = [Backoff() for _ in range(manager.n)]
        self.refused: dict[int, RemoteFailed] = {}
        """Why remotes were refused, or refused us, since their last reset."""
        self.away: dict[int, str] = {}
        """Why remotes could not be reached when that was tried last."""
        self.failed: Exception | None = None
        """Why a remote can't be replaced, where that is no error of a remote."""
        self._closed = False
        self._loop = BackgroundLoop("pluriverse", workers=manager.n + 1)

    def connect(self, addresses: list[Address]) -> None:
        self._loop.submit(self._connect_all(addresses)).result()

    def open_screens(self, open_screen: OpenScreen) -> None:
        """Open the screens of remotes that are connected without, and from now on of all; blocks."""
        self._loop.submit(self._open_screens(open_screen)).result()

    def close_screens(self) -> None:
        """Go on without screens; blocks."""
        self._loop.submit(self._close_screens()).result()

    def mend(self, index: int) -> None:
        """Restore the broken connection of ``index`` in the background, unless that is already being done."""
        self._loop.submit(self._see_to(index))

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
        room = asyncio.Semaphore(AT_ONCE)

        async def connect_one(index: int, address: Address) -> None:
            async with room:
                await self._connect(index, address)

        try:
            async with asyncio.TaskGroup() as group:
                for index, address in enumerate(addresses):
                    group.create_task(connect_one(index, address))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        self._take_over = False

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
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None

    async def _close_screens(self) -> None:
        self._open_screen = None
        for index, connection in enumerate(self.by_index):
            if connection is None or (screen := connection.screen) is None:
                continue
            await connection.stop_mending()
            connection.screen = None
            await self._loop.in_thread(screen.close)
            self._start_mending(index)

    async def _connect(self, index: int, address: Address) -> None:
        token = self._tokens[index] if self._mends else None
        credentials = Credentials(address.endpoint, self._observer, token, self._take_over)

        def changed() -> None:
            self._notify(index)
            self._start_mending(index)

        rewarder = await RewarderConnection.open(credentials, on_change=changed, timeout_s=CONNECT_S)
        try:
            assert rewarder.described is not None
            described = rewarder.described
            screen = await self._loop.in_thread(lambda: self._screen(address, described)) if self._open_screen else None
        except BaseException:
            await rewarder.close()
            raise
        connection = RemoteConnection(address, rewarder, screen, self._mends)
        if self._closed:
            await connection.close(self._loop)
            raise RemoteUnavailable("the environment is being closed")
        if self._resets.wanted:
            self._resets.send(index, rewarder)
        self.by_index[index] = connection
        self.away.pop(index, None)
        self._backoffs[index].whole(time.monotonic())
        self._notify(index)

    def _notify(self, index: int) -> None:
        """Wake those that wait for something new."""
        self.news[index] += 1
        WAKER.wake()

    async def _see_to(self, index: int) -> None:
        self._start_mending(index)

    def _start_mending(self, index: int) -> None:
        connection = self.by_index[index]
        if connection is None or connection.mending is not None or connection.error is not None:
            return
        if connection.broken is None:
            return
        connection.mending = asyncio.create_task(self._mend(index, connection), name=f"reconnecting remote {index}")

    async def _mend(self, index: int, connection: RemoteConnection) -> None:
        """Try until both lines hold again, or it is certain or long enough ago that they can't."""
        backoff = self._backoffs[index]
        backoff.broke(time.monotonic())
        why = connection.broken
        log.warning("the connection to remote %d broke: %s", index, why)
        while connection.error is None and not self._closed:
            await asyncio.sleep(backoff.pause(time.monotonic(), random.random()))  # noqa: S311 - no secret
            try:
                await self._mend_once(connection)
            except RemoteError as error:
                if self._is_gone(connection, error) or backoff.broken_for(time.monotonic()) > self._patience_s(
                    connection
                ):
                    connection.given_up = RemoteFailed(f"{why}; since then: {error}")
            except Exception as error:
                log.exception("the connection to remote %d can't be restored", index)
                connection.given_up = RemoteFailed(f"{why}; reconnecting failed: {error!r}")
            else:
                if connection.broken is None:
                    log.info("the connection to remote %d is restored", index)
                    break
        backoff.whole(time.monotonic())
        connection.mending = None
        self._notify(index)

    def _patience_s(self, connection: RemoteConnection) -> float:
        """Return for how long to try to restore a connection."""
        # Other remotes may be far away, behind a network that fails; and one that answers restarts a screen itself.
        is_frozen = connection.rewarder.lost is not None and not isinstance(self._manager, Attached)
        return FROZEN_S if is_frozen else SEAT_KEPT_S

    def _is_gone(self, connection: RemoteConnection, error: RemoteError) -> bool:
        """Return whether a remote that was started here no longer listens."""
        refused = isinstance(error.__cause__, ConnectionRefusedError)
        return refused and connection.rewarder.lost is not None and not isinstance(self._manager, Attached)

    async def _mend_once(self, connection: RemoteConnection) -> None:
        rewarder, screen = connection.rewarder, connection.screen
        lost = rewarder.lost is not None
        if lost:
            await rewarder.resume(min(MEND_S, self._patience_s(connection)))
        # Where one line went silent the other did, though it may not have been noticed yet.
        if screen is not None and (lost or screen.error is not None):
            assert rewarder.described is not None
            described = rewarder.described
            opening = asyncio.create_task(self._loop.in_thread(lambda: self._screen(connection.address, described)))
            try:
                connection.screen = await asyncio.shield(opening)
            except asyncio.CancelledError:
                opening.add_done_callback(_close_screen)
                raise
        connection.mended += 1
        if screen is not None and connection.screen is not screen:
            await self._loop.in_thread(screen.close)

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
        backoff = self._backoffs[index]
        backoff.broke(time.monotonic())
        while recover and not self._closed:
            await asyncio.sleep(backoff.pause(time.monotonic(), random.random()))  # noqa: S311 - no secret
            try:
                address = await self._loop.in_thread(lambda: self._manager.replace(index))
                await self._connect(index, address)
            except (RemoteError, ConfigurationError) as error:
                log.warning("remote %d is still unreachable: %s", index, error)
                self.away[index] = str(error)
                if isinstance(error.__cause__, RemoteMisbehaved | Refused):
                    self.refused[index] = error.__cause__
                    self._notify(index)
            except Exception as error:
                log.exception("remote %d can't be replaced", index)
                self.failed = error
                self._notify(index)
                return
            else:
                log.info("remote %d is back at %s", index, address)
                return

    async def _close_all(self) -> None:
        connections = [connection for connection in self.by_index if connection is not None]
        self.by_index = [None] * len(self.by_index)
        await asyncio.gather(*(connection.close(self._loop) for connection in connections), return_exceptions=True)


def _close_screen(opening: asyncio.Task[VncConnection]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()
