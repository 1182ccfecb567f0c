"""The connection to a remote's rewarder port, over one WebSocket after the other.

It runs on the background loop; ``pop``, ``reset`` and ``act`` are called from the thread that steps. When its line
breaks (``lost``) its owner may ``resume`` it: a server that keeps seats sends what was missed. What it can't go on from
is an ``error``; then its owner opens another one.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pluriverse_protocol import Headers, LocalProtocolError, ProtocolError, UnknownMethod, decode_from_server, seats
from pluriverse_protocol.codec import Envelope, encode_body, envelop
from pluriverse_protocol.events import Event
from pluriverse_protocol.limits import MAX_REPORT_BYTES
from pluriverse_protocol.messages import (
    Action,
    AgentMessage,
    Close,
    Describe,
    ErrorReply,
    Ping,
    PingReply,
    Reset,
    ResetReply,
    ServerMessage,
    Tree,
    TreeReply,
)
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, WebSocketException

from pluriverse import forks, steady
from pluriverse.diagnostics import WINDOW, ClockEstimator
from pluriverse.endpoint import Endpoint
from pluriverse.errors import ConfigurationError, RemoteFailed, RemoteMisbehaved, RemoteUnavailable, printable

from .asked_trees import Answer, AskedTrees
from .result import Result
from .reward_buffer import RewardBuffer, RewardsOverflow

# A structured observation may fill a program's whole report; the envelope around it is small.
MAX_MESSAGE_BYTES: Final = MAX_REPORT_BYTES + 64 * 1024

# The interval of pings; clocks drift within it by far less than the network's jitter.
PING_S: Final = 1.0

# The first few pings follow quickly, so that the clock's bounds are tight before the first frame is dated.
FIRST_PINGS: Final = 5
FIRST_PING_S: Final = 0.02

# A running remote sends something each second and answers pings at once; one that is silent for this long is gone,
# frozen, or behind an unusable network.
SILENCE_S: Final = 3.0

# A well-behaved server answers a close within one round trip; after this the socket is cut.
CLOSE_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Credentials:
    """Where a rewarder is, and who comes; with a ``token`` its seat is kept when the line breaks.

    ``take_over``: take the place of another agent.
    """

    endpoint: Endpoint
    observer: bool = False
    token: str | None = field(default=None, repr=False)
    take_over: bool = False

    def headers(self, last_number: int | None = None) -> dict[str, str]:
        """Return the upgrade request's headers.

        ``last_number``: of the last message that an agent has that comes back.
        """
        headers = self.endpoint.headers()
        if self.observer:
            headers["openai-observer"] = "true"
        elif self.token is not None:
            headers[seats.TOKEN] = self.token
            if last_number is not None:
                headers[seats.LAST_NUMBER] = str(last_number)
            elif self.take_over:
                headers[seats.TAKE_OVER] = "true"
        return headers


class Refused(RemoteFailed):
    """A remote that answers has no place for this agent, such as one that another plays."""


class _Connect(connect):
    """Follows no redirect, which would take the credentials to another host."""

    def process_redirect(self, exc: Exception) -> Exception:
        return exc


class RewarderConnection:
    """A connection made by ``open``. ``lost`` is why its line is broken, ``error`` why it is of no use any more."""

    def __init__(self, credentials: Credentials, on_change: Callable[[], None]) -> None:
        self.name = str(credentials.endpoint)
        forks.keep(self)
        self.lost: str | None = None
        self.error: RemoteFailed | None = None
        # Why the last reset was refused, as every other like it would be.
        self.refused: str | None = None
        self.described: Describe | None = None
        # The number of answered pings, and the last round trips in seconds; for people.
        self.pings: int = 0
        self.round_trips_s: deque[float] = deque(maxlen=WINDOW)
        self.credentials = credentials
        self._on_change = on_change
        self._loop = asyncio.get_running_loop()
        self._socket: ClientConnection | None = None
        # Whether the server keeps our seat, and the number of the last message that we have.
        self._seated = False
        self._last_number = 0
        self.clock = ClockEstimator()
        self.news: int = 0
        """How often something has changed that ``pop`` or ``runs`` returns, except by ``pop`` itself."""
        # For the buffer, which both threads use.
        self._lock = threading.Lock()
        self._buffer = RewardBuffer()
        self._message_ids = itertools.count()
        self._episode_id = 0
        self._pinged: dict[int | str, float] = {}
        self._trees = AskedTrees()
        # The reset that hasn't been answered yet.
        self._asked_reset: tuple[int, _Encoded, int] | None = None
        self._heard_at = time.monotonic()
        self._tasks: list[asyncio.Task[None]] = []
        self._closed = False

    @classmethod
    async def open(
        cls, credentials: Credentials, *, on_change: Callable[[], None], timeout_s: float
    ) -> RewarderConnection:
        """Connect, and wait until the remote has described its environment.

        ``on_change`` is called on the loop's thread whenever there is something new to pop, a line lost, or an error.
        """
        connection = cls(credentials, on_change)
        await connection._connect(timeout_s)
        return connection

    def fileno(self) -> int:
        """Return the descriptor of the present line's socket; -1 without one."""
        return -1 if self._socket is None else self._socket.transport.get_extra_info("socket").fileno()

    async def resume(self, timeout_s: float) -> None:
        """Reconnect after the connection was ``lost``; missed messages follow. Otherwise ``error`` has the reason."""
        await self._hang_up()
        await self._connect(timeout_s, self._last_number)
        self.lost = None
        if self._asked_reset is not None:
            message_id, reset, leaving = self._asked_reset
            self._post(reset.envelop(Headers(message_id, time.time(), leaving)))

    async def close(self) -> None:
        """Hang up for good; may be called repeatedly."""
        self._closed = True
        await self._hang_up()

    async def _hang_up(self) -> None:
        socket = self._socket
        for task in self._tasks:
            task.cancel()
        try:
            await asyncio.gather(*self._tasks, return_exceptions=True)
            if socket is not None and self.lost is None:
                await socket.close()
        finally:
            # A close that is cancelled would leave it open.
            if socket is not None:
                socket.transport.abort()

    async def _connect(self, timeout_s: float, last_number: int | None = None) -> None:
        """Open the WebSocket, and listen: after the environment's description, or where the messages broke off."""
        try:
            async with asyncio.timeout(timeout_s):
                endpoint = self.credentials.endpoint
                socket = await _Connect(
                    endpoint.url("ws"),
                    ssl=endpoint.context(),
                    additional_headers=self.credentials.headers(last_number),
                    compression=None,
                    max_size=MAX_MESSAGE_BYTES,
                    ping_interval=None,
                    open_timeout=None,
                    close_timeout=CLOSE_S,
                    proxy=None,
                )
                try:
                    await self._begin(socket, last_number)
                except BaseException:
                    try:
                        await socket.close()
                    finally:
                        socket.transport.abort()
                    raise
        except TimeoutError:
            raise RemoteUnavailable(f"the rewarder at {self.name} was silent for {timeout_s:g} s") from None
        except (OSError, InvalidHandshake, WebSocketException) as error:
            raise RemoteUnavailable(f"the rewarder at {self.name} can't be reached: {printable(str(error))}") from error
        except RemoteFailed as error:
            raise RemoteUnavailable(str(error)) from error
        self._tasks.clear()
        self._begin_task(self._receive(socket), "receive")
        self._begin_task(self._keep_time(), "pings")

    async def _begin(self, socket: ClientConnection, last_number: int | None) -> None:
        if self._closed:
            raise RemoteFailed(f"the connection to {self.name} is being closed")
        response = socket.response
        seat = response.headers.get(seats.SEAT) if response is not None else None
        if last_number is not None and seat != seats.RESUMED:
            self._fail(f"{self.name} no longer has this agent's seat ({self.lost})")
            raise RemoteFailed(str(self.error))
        self._socket = socket
        self._seated = seat is not None
        self._heard_at = time.monotonic()
        self._pinged.clear()
        if last_number is None:
            await self._first_message(socket)

    # ── from the thread that steps ──────────────────────────────────────────────────────────────────────────────────

    def reset(self, reset: Reset) -> None:
        """Request a new episode; ``pop`` returns nothing until the remote has granted it."""
        encoded = _Encoded(reset)
        self.refused = None
        with self._lock:
            self._buffer.mask()
            self.news += 1
        self._loop.call_soon_threadsafe(self._send_reset, encoded)

    def act(self, events: Sequence[Event]) -> None:
        """Send input events on this connection, for environments without a screen."""
        self._loop.call_soon_threadsafe(self._send, _Encoded(Action(tuple(events))))

    def tree(self) -> TreeReply:
        answer = Answer()
        self._loop.call_soon_threadsafe(self._ask_tree, answer)
        return AskedTrees.wait(answer)

    def runs(self, *, peek: bool = False) -> bool:
        """Return whether an episode would take an action; see ``RewardBuffer.runs``."""
        with self._lock:
            return self._buffer.runs(peek=peek)

    def pop(self) -> Result:
        """Take what has come for one episode; see ``RewardBuffer.pop``."""
        with self._lock:
            return self._buffer.pop()

    def peek(self) -> Result:
        """Look without taking anything; see ``RewardBuffer.peek``."""
        with self._lock:
            return self._buffer.peek()

    # ── on the loop ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def _first_message(self, socket: ClientConnection) -> None:
        """Receive until the environment's description, which comes first unless the remote refuses the connection."""
        while self.described is None:
            try:
                self._take(await socket.recv(), steady.now())
            except ConnectionClosed as closed:
                raise self.error or RemoteFailed(f"{self.name} hung up: {printable(str(closed))}") from closed
            if self.error is not None:
                raise self.error

    async def _receive(self, socket: ClientConnection) -> None:
        try:
            while self.error is None:
                self._take(await socket.recv(), steady.now())
        except ConnectionClosed as closed:
            self._lose(f"the rewarder at {self.name} hung up: {printable(str(closed))}")

    def _take(self, data: str | bytes, received_at: float) -> None:
        self._heard_at = time.monotonic()
        if isinstance(data, bytes):
            self._fail(f"{self.name} sent a binary frame, which the protocol doesn't allow", RemoteMisbehaved)
            return
        try:
            envelope = decode_from_server(data)
        except UnknownMethod:
            return  # a newer remote may have more methods
        except ProtocolError as error:
            self._fail(f"{self.name} broke the protocol: {printable(str(error))}", RemoteMisbehaved)
            return
        self._dispatch(envelope, received_at)

    def _dispatch(self, envelope: Envelope[ServerMessage], received_at: float) -> None:
        headers = envelope.headers
        if headers.number is not None:
            self._last_number = headers.number
        match envelope.message:
            case PingReply():
                self._note_ping(headers, received_at)
                return
            case TreeReply() as reply:
                self._trees.answered(headers.parent_message_id, reply)
                return
            case ResetReply():
                self._note_reset(headers)
            case ErrorReply(message):
                self._note_refusal(headers, printable(message))
            case Close(message):
                # One that comes before the description refuses this connection.
                did, kind = ("hung up", RemoteFailed) if self.described else ("refused the connection", Refused)
                self._fail(f"the remote at {self.name} {did}: {printable(message)}", kind)
            case message:
                self._note(message, headers, received_at)
        self._on_change()

    def _note(self, message: ServerMessage, headers: Headers, received_at: float) -> None:
        if isinstance(message, Describe):
            self.described = message
        if headers.episode_id is None:
            return
        self._episode_id = max(self._episode_id, headers.episode_id)
        if self.clock.doubts(headers.sent_at, received_at):
            self._ping()
        try:
            with self._lock:
                self._buffer.put(message, headers.episode_id, headers.sent_at, received_at)
                self.news += 1
        except RewardsOverflow as error:
            self._fail(f"{self.name} broke the protocol: {error}", RemoteMisbehaved)

    def _note_reset(self, headers: Headers) -> None:
        if not self._answers_reset(headers) or headers.episode_id is None:
            return  # the answer to a reset that a later one has overtaken
        self._asked_reset = None
        with self._lock:
            self._buffer.unmask(headers.episode_id)
            self.news += 1

    def _note_refusal(self, headers: Headers, message: str) -> None:
        self._trees.refused(headers.parent_message_id, message)
        if self._answers_reset(headers):
            self._asked_reset = None
            self.refused = f"{self.name} refused the reset: {message}"

    def _answers_reset(self, headers: Headers) -> bool:
        return self._asked_reset is not None and headers.parent_message_id == self._asked_reset[0]

    def _note_ping(self, headers: Headers, received_at: float) -> None:
        sent = self._pinged.pop(headers.parent_message_id or 0, None)
        if sent is None:
            return
        # Old remotes send how long they took instead of when they received it.
        remote_received = headers.received_at
        if remote_received is None:
            remote_received = headers.sent_at - (headers.parent_runtime or 0.0)
        self.pings += 1
        self.round_trips_s.append(received_at - sent - (headers.sent_at - remote_received))
        self.clock.add(sent, remote_received, headers.sent_at, received_at)

    async def _keep_time(self) -> None:
        looked_at = time.monotonic()
        for count in itertools.count(1):
            now = time.monotonic()
            # What has come while this process had no turn is yet to be heard.
            if now - looked_at > 2 * PING_S:
                self._heard_at = now
            looked_at = now
            if now - self._heard_at > SILENCE_S:
                self._lose(f"{self.name} has been silent for {SILENCE_S:g} s")
                return
            self._ping()
            await asyncio.sleep(FIRST_PING_S if count < FIRST_PINGS else PING_S)

    def _ping(self) -> None:
        sent = steady.now()
        self._pinged[self._send(_PING)] = sent
        while len(self._pinged) > SILENCE_S / PING_S + FIRST_PINGS:
            del self._pinged[next(iter(self._pinged))]

    def _send_reset(self, reset: _Encoded) -> None:
        leaving = self._episode_id
        self._asked_reset = self._send(reset, episode_id=leaving), reset, leaving

    def _ask_tree(self, answer: Answer) -> None:
        self._trees.ask(self._send(_TREE), answer)
        if why := self.error or self.lost:
            self._trees.give_up(str(why))

    def _send(self, message: _Encoded, episode_id: int | None = None) -> int:
        message_id = next(self._message_ids)
        last_number = self._last_number if self._seated else None
        self._post(message.envelop(Headers(message_id, time.time(), episode_id, last_number=last_number)))
        return message_id

    def _post(self, text: str) -> None:
        """Send a message, unless the line is broken."""
        if self.error is None and self.lost is None and self._socket is not None:
            self._begin_task(self._write(self._socket, text), "send")

    def _begin_task(self, coroutine: Coroutine[Any, Any, None], what: str) -> None:
        self._tasks = [task for task in self._tasks if not task.done()]
        self._tasks.append(asyncio.create_task(coroutine, name=f"rewarder {self.name}: {what}"))
        self._tasks[-1].add_done_callback(self._note_end)

    def _note_end(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fail(f"the connection to {self.name} failed: {error!r}")

    async def _write(self, socket: ClientConnection, text: str) -> None:
        with contextlib.suppress(ConnectionClosed):  # the receiving task gets the same
            await socket.send(text)

    def _lose(self, why: str) -> None:
        """Note that the line is broken, which is the end where the server keeps no seat."""
        if not self._seated:
            self._fail(why)
        elif self.lost is None and self.error is None:
            self.lost = why
            self._trees.give_up(why)
            self._on_change()

    def _fail(self, why: str, kind: type[RemoteFailed] = RemoteFailed) -> None:
        if self.error is None:
            self.error = kind(why)
        self._trees.give_up(why)
        self._on_change()


class _Encoded:
    """A message whose body is encoded, on the caller's thread, which gets the errors."""

    def __init__(self, message: AgentMessage) -> None:
        self._message = message
        try:
            self._body = encode_body(message)
        except LocalProtocolError as error:
            raise ConfigurationError(str(error)) from None

    def envelop(self, headers: Headers) -> str:
        return envelop(self._message, self._body, headers)


_PING: Final = _Encoded(Ping())
_TREE: Final = _Encoded(Tree())
