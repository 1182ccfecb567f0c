"""One WebSocket connection of an agent or an observer: answers its requests and sends its queue."""

from __future__ import annotations

import asyncio
import contextlib
import struct
import time
from collections import deque
from typing import Final

from aiohttp import WSCloseCode, WSMsgType, web
from pluriverse_protocol import Headers, MessageId, RemoteProtocolError, decode_from_agent, step_channel
from pluriverse_protocol.codec import Envelope
from pluriverse_protocol.limits import MAX_WATCHED_TREES_PER_S
from pluriverse_protocol.messages import (
    Action,
    AgentBegin,
    AgentMessage,
    AgentRestore,
    AgentSnapshot,
    AgentStep,
    Close,
    ErrorReply,
    Ping,
    PingReply,
    Reset,
    ResetReply,
    ServerMessage,
    Tree,
)

from pluriverse_server.access import audit
from pluriverse_server.access.tokens import Token
from pluriverse_server.tasks import start_task

from .requests import RequestError
from .seat import Seat
from .send_queue import QueuedMessage, SendQueue
from .sessions import Sessions

# A peer that has answered no WebSocket ping for this long is gone, even if TCP never noticed.
SILENT_PEER_S: Final = 30.0

# A reader that takes nothing for this long is hung up on, however little is queued for it.
STALLED_READER_S: Final = 30.0

# How many round trips the reported median is taken of.
ROUND_TRIPS: Final = 16

# A tree may be as large as a thousand other messages: not for clients that leave this many unread.
MAX_UNREAD: Final = 16

# A well-behaved peer answers a close at once; it has the reason already, and gets no more time than this.
CLOSE_TIMEOUT_S: Final = 1.0

# A close frame's payload is at most 125 bytes, two of them the code; the message before it has the whole reason.
MAX_CLOSE_REASON_BYTES: Final = 123

_STAMP: Final = struct.Struct("!d")


class Connection:
    def __init__(
        self,
        sessions: Sessions,
        socket: web.WebSocketResponse,
        transport: asyncio.Transport,
        *,
        observer: bool,
        peer: str,
        who: Token,
        seat: Seat | None = None,
        takes_over: bool = False,
    ) -> None:
        """``who``: whose password or token was given. ``seat``: of an agent that has named itself by a token.

        ``takes_over``: whether it takes the place of another agent.
        """
        self.peer = peer
        self.who = who
        self.seat = seat
        self.send_queue = seat.send_queue if seat is not None else SendQueue()
        self.parted = False
        self.takes_over = takes_over
        self.round_trips_s: deque[float] = deque(maxlen=ROUND_TRIPS)
        self._sessions = sessions
        self._socket = socket
        self._transport = transport
        self._observer = observer
        self._next_message_id = 0
        self._wake = asyncio.Event()
        self._ended = asyncio.Event()
        self._closing = False
        self._ping_due = False
        now = asyncio.get_running_loop().time()
        self.heard_at = now
        self._sending_since: float | None = None
        self._looking: asyncio.Task[None] | None = None

    async def run(self) -> None:
        self._sessions.add(self)
        self._wake.set()  # an agent that comes back has missed messages already
        sender = start_task(self._send_all(), f"sender to {self.peer}", self.cut)
        try:
            with contextlib.suppress(ConnectionError):
                await self._receive_all()
        finally:
            self._sessions.remove(self)
            ending = [sender, *([self._looking] if self._looking is not None else [])]
            for task in ending:
                task.cancel()
            await asyncio.gather(*ending, return_exceptions=True)
            self._ended.set()

    def put(self, queued: QueuedMessage) -> None:
        if self._closing:
            return
        self.send_queue.put(queued)
        self._wake.set()
        if self.send_queue.overflowing:
            self.hang_up("this connection reads too slowly to be served")

    def hang_up(self, reason: str) -> None:
        """Close, with ``reason`` in a last message, once the queue is sent; a peer that doesn't take it is cut off."""
        if self._closing:
            return
        self.put(QueuedMessage(Close(reason), time.time()))
        self._closing = self.parted = True
        asyncio.get_running_loop().call_later(CLOSE_TIMEOUT_S, self._transport.abort)

    def cut(self) -> None:
        """Drop the line at once: the agent has another one."""
        self._closing = True
        self._transport.abort()

    async def close(self, reason: str) -> None:
        self.hang_up(reason)
        await self._ended.wait()

    def check(self, now: float) -> None:
        """Enforce the time limits, and ping. ``now`` is the loop's time in seconds."""
        if self._sending_since is not None and now - self._sending_since > STALLED_READER_S:
            self.hang_up(f"this connection has read nothing for {STALLED_READER_S:g} s")
        elif now - self.heard_at > SILENT_PEER_S:
            self.hang_up(f"no answer to pings for {SILENT_PEER_S:g} s")
        else:
            self._ping_due = True
            self._wake.set()

    # ── receiving ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def _receive_all(self) -> None:
        while True:
            message = await self._socket.receive()
            received_at = time.time()
            self.heard_at = asyncio.get_running_loop().time()
            match message.type:
                case WSMsgType.TEXT:
                    await self._received(message.data, received_at)
                    # Not left to the sender's task, whose turn would come only after everything else that is ready.
                    await self._flush()
                case WSMsgType.BINARY:
                    self._reply(ErrorReply("binary frames are refused; send JSON in text frames"), None, received_at)
                case WSMsgType.PING:
                    await self._socket.pong(message.data)
                case WSMsgType.PONG:
                    self._note_round_trip(message.data)
                case other:
                    self.parted = self.parted or other is WSMsgType.CLOSE
                    return

    async def _received(self, text: str, received_at: float) -> None:
        try:
            envelope = decode_from_agent(text.encode(errors="surrogatepass"))
        except RemoteProtocolError as error:
            self._reply(ErrorReply(str(error)), error.message_id, received_at)
            return
        if not self._observer and (refusal := self._sessions.claim_agent(self)) is not None:
            self.hang_up(refusal)
            return
        if self.seat is not None and envelope.headers.last_number is not None:
            self.seat.acknowledge(envelope.headers.last_number)
        try:
            reply, episode_id = await self._answer(envelope)
        except RequestError as error:
            reply, episode_id = ErrorReply(str(error)), None
        if reply is not None:
            self._reply(reply, envelope.headers.message_id, received_at, episode_id)

    async def _answer(self, envelope: Envelope[AgentMessage]) -> tuple[ServerMessage | None, int | None]:
        match envelope.message:
            case Ping():
                return PingReply(), None
            case Tree():
                self._look(envelope.headers.message_id)
                return None, None
            case _ if self._observer:
                raise RequestError("not permitted: this connection is an observer")
            case Reset() as reset:
                return ResetReply(), self._reset(reset, envelope.headers)
            case AgentStep() | AgentSnapshot() | AgentRestore() | AgentBegin():
                raise RequestError(f"steps need their own WebSocket, at {step_channel.PATH}")
            case Action(action=events):
                await self._sessions.requests.act(events)
                return None, None

    def _look(self, parent: MessageId) -> None:
        """Begin to read a tree, which may take as long as many messages: they are answered meanwhile."""
        if self._looking is not None and not self._looking.done():
            raise RequestError("a tree is already being read for this connection")
        if len(self.send_queue) > MAX_UNREAD:
            raise RequestError(f"over {MAX_UNREAD} messages wait to be read on this connection; read them first")
        if self._observer and not self._sessions.may_watch_tree():
            raise RequestError(f"observers may read {MAX_WATCHED_TREES_PER_S:g} trees a second in total")
        self._looking = start_task(self._answer_tree(parent, time.time()), f"tree for {self.peer}", self.cut)

    async def _answer_tree(self, parent: MessageId, received_at: float) -> None:
        try:
            reply: ServerMessage = await self._sessions.requests.tree()
        except RequestError as error:
            reply = ErrorReply(str(error))
        self._reply(reply, parent, received_at)

    def _reset(self, reset: Reset, headers: Headers) -> int:
        seat = self.seat
        if seat is not None and seat.granted is not None and seat.granted[0] == headers.message_id:
            return seat.granted[1]
        episode_id = self._sessions.requests.reset(reset, headers.episode_id or 0)
        audit.note("reset", self.who, self.peer, env_id=reset.env_id, episode=str(episode_id))
        if seat is not None:
            seat.granted = headers.message_id, episode_id
        return episode_id

    def _reply(
        self, message: ServerMessage, parent: MessageId | None, received_at: float, episode_id: int | None = None
    ) -> None:
        now = time.time()
        runtime = max(0.0, now - received_at)
        echoed = received_at if isinstance(message, PingReply) else None
        self.put(QueuedMessage(message, now, episode_id, parent, runtime, echoed))

    def _note_round_trip(self, payload: bytes) -> None:
        if len(payload) == _STAMP.size:
            (sent_at,) = _STAMP.unpack(payload)
            self.round_trips_s.append(asyncio.get_running_loop().time() - sent_at)

    # ── sending ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _send_all(self) -> None:
        loop = asyncio.get_running_loop()
        with contextlib.suppress(ConnectionError):
            while not self._socket.closed:
                await self._wake.wait()
                self._wake.clear()
                await self._flush()
                if self._ping_due:
                    self._ping_due = False
                    await self._socket.ping(_STAMP.pack(loop.time()))

    async def _flush(self) -> None:
        """Send the queue, unless that is being done already: then what was queued meanwhile is sent there too."""
        if self._sending_since is not None:
            return
        loop = asyncio.get_running_loop()
        try:
            while (queued := self.send_queue.get()) is not None:
                self._sending_since = loop.time()
                number = self.seat.next_number(queued) if self.seat is not None else None
                text = queued.encode(self._next_message_id, number)
                self._next_message_id += 1
                if self.seat is not None and number is not None:
                    self.seat.keep(queued, len(text))
                await self._socket.send_str(text)
                if isinstance(queued.message, Close):
                    reason = queued.message.message.encode()[:MAX_CLOSE_REASON_BYTES]
                    await self._socket.close(code=WSCloseCode.OK, message=reason)
        finally:
            self._sending_since = None
