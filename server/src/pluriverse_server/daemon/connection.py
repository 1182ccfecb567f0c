"""One WebSocket connection of an agent or an observer: reads requests, answers them, sends what waits."""

from __future__ import annotations

import asyncio
import contextlib
import struct
import time
from collections import deque
from typing import Final

from aiohttp import WSCloseCode, WSMsgType, web
from pluriverse_protocol import Headers, MessageId, RemoteProtocolError, decode_from_agent, encode
from pluriverse_protocol.codec import Envelope
from pluriverse_protocol.messages import (
    Action,
    AgentMessage,
    Close,
    ErrorReply,
    Ping,
    PingReply,
    Reset,
    ResetReply,
    ServerMessage,
)

from .hub import Hub
from .requests import RequestError
from .send_queue import SendQueue, Waiting

# A peer that has answered no WebSocket ping for this long is gone, though its machine never said so.
SILENT_PEER_S: Final = 30.0

# A reader that takes nothing for this long is hung up on, whatever little waits for it.
STALLED_READER_S: Final = 30.0

# How many round trips the reported median is taken of.
ROUND_TRIPS: Final = 16

# A well-behaved peer answers a close at once; we have said why, and wait no longer than this.
CLOSE_TIMEOUT_S: Final = 1.0

# A close frame's payload is at most 125 bytes, two of them the code; what is cut off stands in the message before it.
MAX_CLOSE_REASON_BYTES: Final = 123

_STAMP: Final = struct.Struct("!d")


class Connection:
    """A connection that has been let in. ``run`` serves it to its end."""

    def __init__(
        self, hub: Hub, socket: web.WebSocketResponse, transport: asyncio.Transport, *, observer: bool, peer: str
    ) -> None:
        self.peer = peer
        self.send_queue = SendQueue()
        self.round_trips_s: deque[float] = deque(maxlen=ROUND_TRIPS)
        self._hub = hub
        self._socket = socket
        self._transport = transport
        self._observer = observer
        self._next_message_id = 0
        self._wake = asyncio.Event()
        self._ended = asyncio.Event()
        self._closing = False
        self._ping_due = False
        now = asyncio.get_running_loop().time()
        self._opened_at = self._heard_at = self._spoke_at = now
        self._sending_since: float | None = None

    async def run(self) -> None:
        """Serve the connection until either side hangs up."""
        self._hub.add(self)
        sender = asyncio.create_task(self._send_all(), name=f"sender to {self.peer}")
        try:
            with contextlib.suppress(ConnectionError):
                await self._receive_all()
        finally:
            self._hub.remove(self)
            sender.cancel()
            await asyncio.gather(sender, return_exceptions=True)
            self._ended.set()

    def put(self, waiting: Waiting) -> None:
        """Queue a message. A reader too far behind is hung up on."""
        if self._closing:
            return
        self.send_queue.put(waiting)
        self._wake.set()
        if self.send_queue.overflowing:
            self.hang_up("this connection reads too slowly to be served")

    def hang_up(self, reason: str) -> None:
        """Say why and close, after what waits already; a peer that doesn't take it is cut off."""
        if self._closing:
            return
        self.put(Waiting(Close(reason), time.time()))
        self._closing = True
        asyncio.get_running_loop().call_later(CLOSE_TIMEOUT_S, self._transport.abort)

    async def close(self, reason: str) -> None:
        """Hang up, and wait for the end."""
        self.hang_up(reason)
        await self._ended.wait()

    def check(self, now: float) -> None:
        """Look at the time limits, and ping. ``now`` is the loop's time in seconds."""
        hub = self._hub
        is_agent = hub.agent is self
        if self._sending_since is not None and now - self._sending_since > STALLED_READER_S:
            self.hang_up(f"this connection has read nothing for {STALLED_READER_S:g} s")
        elif now - self._heard_at > SILENT_PEER_S:
            self.hang_up(f"no answer to pings for {SILENT_PEER_S:g} s")
        elif is_agent and hub.idle_timeout_s and now - self._spoke_at > hub.idle_timeout_s:
            self.hang_up(f"idle time limit: no message for {hub.idle_timeout_s:g} s")
        elif is_agent and hub.session_timeout_s and now - self._opened_at > hub.session_timeout_s:
            self.hang_up(f"session time limit: connected for {hub.session_timeout_s:g} s")
        else:
            self._ping_due = True
            self._wake.set()

    # ── receiving ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def _receive_all(self) -> None:
        while True:
            message = await self._socket.receive()
            received_at = time.time()
            self._heard_at = asyncio.get_running_loop().time()
            match message.type:
                case WSMsgType.TEXT:
                    self._spoke_at = self._heard_at
                    await self._received(message.data, received_at)
                    # Here rather than by the sender's task: its turn would come only after whatever else is ready.
                    await self._flush()
                case WSMsgType.BINARY:
                    self._reply(ErrorReply("binary frames are refused; send JSON in text frames"), None, received_at)
                case WSMsgType.PING:
                    await self._socket.pong(message.data)
                case WSMsgType.PONG:
                    self._note_round_trip(message.data)
                case _:
                    return

    async def _received(self, text: str, received_at: float) -> None:
        try:
            envelope = decode_from_agent(text.encode(errors="surrogatepass"))
        except RemoteProtocolError as error:
            self._reply(ErrorReply(str(error)), error.message_id, received_at)
            return
        if not self._observer and not self._hub.claim_agent(self):
            self.hang_up(
                "another agent is connected; a remote has one agent at a time "
                "(connect with the header openai-observer: true to watch)"
            )
            return
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
            case _ if self._observer:
                raise RequestError("not permitted: this connection is an observer's")
            case Reset() as reset:
                episode_id = self._hub.requests.reset(reset, envelope.headers.episode_id or 0)
                return ResetReply(), episode_id
            case Action(action=events):
                await self._hub.requests.act(events)
                return None, None

    def _reply(
        self, message: ServerMessage, parent: MessageId | None, received_at: float, episode_id: int | None = None
    ) -> None:
        now = time.time()
        self.put(
            Waiting(
                message,
                now,
                episode_id,
                parent,
                max(0.0, now - received_at),
                received_at if isinstance(message, PingReply) else None,
            )
        )

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
        """Send what waits, unless that is being done already: then what was queued meanwhile is sent there too."""
        if self._sending_since is not None:
            return
        loop = asyncio.get_running_loop()
        try:
            while (waiting := self.send_queue.get()) is not None:
                self._sending_since = loop.time()
                await self._send(waiting)
                if isinstance(waiting.message, Close):
                    reason = waiting.message.message.encode()[:MAX_CLOSE_REASON_BYTES]
                    await self._socket.close(code=WSCloseCode.OK, message=reason)
        finally:
            self._sending_since = None

    async def _send(self, waiting: Waiting) -> None:
        headers = Headers(
            message_id=self._next_message_id,
            sent_at=waiting.queued_at,
            episode_id=waiting.episode_id,
            parent_message_id=waiting.parent_message_id,
            parent_runtime=waiting.parent_runtime,
            received_at=waiting.received_at,
        )
        self._next_message_id += 1
        await self._socket.send_str(encode(waiting.message, headers))
