"""The agent's end of a step channel: the WebSocket on which it steps a remote in lockstep, in the thread that steps."""

from __future__ import annotations

import itertools
import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import numpy as np
from pluriverse_protocol import Headers, MalformedEnvelope, ProtocolError, encode, step_channel
from pluriverse_protocol.codec import Envelope
from pluriverse_protocol.env_options import Value
from pluriverse_protocol.errors import MessageId
from pluriverse_protocol.events import Event
from pluriverse_protocol.kinds import Handle
from pluriverse_protocol.limits import MAX_SNAPSHOTS
from pluriverse_protocol.messages import (
    AgentBegin,
    AgentMessage,
    AgentRestore,
    AgentSnapshot,
    FirstFrame,
    Pictured,
    RestoreReply,
    ServerMessage,
    StepReply,
    Tree,
)
from pluriverse_protocol.sound import CHANNELS, FRAME_BYTES
from pluriverse_protocol.web_frames import LEAST_BYTES, MASKED, MOST_BYTES, WHOLE_BINARY, measure
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import State

from pluriverse import forks
from pluriverse.endpoint import Endpoint
from pluriverse.errors import RemoteFailed, RemoteMisbehaved, RemoteUnavailable, printable
from pluriverse.rfb.picture import Pixels
from pluriverse.tls import WOULD_BLOCK
from pluriverse.web_socket import upgrade

from .connection import Credentials
from .result import RUNNING, Result

# A remote in the same building answers within a millisecond; one that takes longer is frozen or out of reach.
CONNECT_S: Final = 10.0

# A remote that takes nothing for so long is given up: all others wait meanwhile.
SEND_S: Final = 10.0

# Screens of RFB have at most this many bytes in three channels, with room for the rest of the answer.
MAX_REPLY_BYTES: Final = 3 * 4096 * 4096


class Arrived(NamedTuple):
    """A message of the remote, its episode's result, and the number of the request that it answers.

    Pictures are uint8 (height, width, 3 or 1).
    """

    message: ServerMessage
    result: Result
    parent: MessageId | None


def connect(
    endpoint: Endpoint, url: str, headers: Mapping[str, str], refuses: str, *, max_size: int | None = None
) -> tuple[socket.socket, ClientProtocol]:
    """Return a connection to a remote on which there is a WebSocket, and the protocol's state; blocks.

    Raises:
        RemoteUnavailable: the remote is away, or ``refuses``.
    """
    try:
        connection = endpoint.connect(CONNECT_S)
    except OSError as error:
        raise RemoteUnavailable(f"the remote at {endpoint} can't be reached: {error}") from error
    try:
        protocol = upgrade(connection, url, headers, time.monotonic() + CONNECT_S, max_size=max_size)
    except OSError as error:
        connection.close()
        raise RemoteUnavailable(f"the remote at {endpoint} {refuses}: {error}") from error
    except BaseException:
        connection.close()
        raise
    return connection, protocol


class StepChannelConnection:
    """A step channel, made by ``open``. ``error`` is why it is of no use any more; None while it holds."""

    def __init__(self, name: str, connected: socket.socket, protocol: ClientProtocol) -> None:
        self.name = name
        self.error: RemoteFailed | None = None
        self.unwanted: list[Handle] = []
        """Handles of snapshots that the remote may forget; sent with the next snapshot."""
        self._socket = forks.keep(connected)
        self._protocol = protocol
        self._message_ids = itertools.count(1)
        self._arrived: list[Arrived] = []
        # Of the last frame that has come.
        self._picture: Pixels | None = None
        # The frame that comes, and how much of it is there and wanted. Past the protocol, which would copy the pixels.
        self._frame = memoryview(bytearray(MOST_BYTES))
        self._filled, self._wanted = 0, LEAST_BYTES

    @classmethod
    def open(
        cls, credentials: Credentials, slot: int = 0, view: step_channel.View | None = None
    ) -> StepChannelConnection:
        """Connect to a slot of the remote whose agent we are, 0 for its own environment; blocks.

        ``view`` is what is wanted of pictures; a remote that has no views sends whole ones.
        """
        endpoint = credentials.endpoint
        name = str(endpoint)
        query = ({step_channel.SLOT: str(slot)} if slot else {}) | ({} if view is None else view.query())
        url = endpoint.url("ws", step_channel.PATH) + (f"?{urlencode(query)}" if query else "")
        headers = credentials.headers()
        connection, protocol = connect(endpoint, url, headers, "doesn't accept steps", max_size=MAX_REPLY_BYTES)
        return cls(name, connection, protocol)

    def fileno(self) -> int:
        """Return the socket, for ``poll``: readable when something has come."""
        return self._socket.fileno()

    def step(self, n: int, events: Sequence[Event], frames: int, episode_id: int) -> None:
        """Ask for a step; its answer is a ``StepReply``, or an ``ErrorReply``. A broken channel is an ``error``."""
        number = next(self._message_ids)
        if self.error is None:
            self._write(step_channel.encode_step(number, time.time(), episode_id, n, frames, events))

    def snapshot(self, episode_id: int, name: str | None = None) -> None:
        """Ask the remote to keep this moment; its answer is a ``SnapshotReply``, or an ``ErrorReply``."""
        drop, self.unwanted = self.unwanted[:MAX_SNAPSHOTS], self.unwanted[MAX_SNAPSHOTS:]
        self._send(AgentSnapshot(tuple(drop), name), episode_id)

    def restore(self, handle: Handle, episode_id: int = 0) -> int:
        """Ask to go on from a snapshot; the answer is a ``RestoreReply``, or an ``ErrorReply``.

        0: in a slot without an episode, which begins there. Return the number that is the answer's ``parent``.
        """
        return self._send(AgentRestore(handle), episode_id)

    def begin(self, seed: int | None, env_id: str | None = None, options: Mapping[str, Value] | None = None) -> int:
        """Ask a slot for an episode; return the number that is the ``parent`` of its first frame.

        ``env_id`` and ``options`` None: as before.
        """
        return self._send(AgentBegin(seed, env_id, options))

    def tree(self, episode_id: int) -> None:
        """Ask what is on the picture; the answer is a ``TreeReply``, or an ``ErrorReply``."""
        self._send(Tree(), episode_id)

    def take(self) -> list[Arrived]:
        """Return the messages that have come, without waiting; of a broken channel those before it broke."""
        if self.error is None:
            self._receive()
        arrived, self._arrived = self._arrived, []
        return arrived

    def fail(self, why: str, kind: type[RemoteFailed] = RemoteFailed) -> None:
        if self.error is None:
            self.error = kind(f"the step channel of the remote at {self.name} broke: {why}")

    def close(self) -> None:
        """Hang up; may be called repeatedly."""
        self.fail("it was closed")
        self._socket.close()

    def _send(self, message: AgentMessage, episode_id: int | None = None) -> int:
        number = next(self._message_ids)
        if self.error is None:
            headers = Headers(number, time.time(), episode_id)
            self._write(encode(message, headers).encode())
        return number

    def _write(self, text: bytes) -> None:
        self._protocol.send_text(text)
        self._flush()

    def _receive(self) -> None:
        self._socket.settimeout(0)
        # What TLS has decrypted already shows on no descriptor.
        connected = self._socket
        while self.error is None and (
            not self._arrived or (isinstance(connected, ssl.SSLSocket) and connected.pending() > 0)
        ):
            try:
                got = connected.recv_into(self._frame[self._filled : self._wanted])
            except WOULD_BLOCK:
                return
            except OSError as error:
                self.fail(printable(str(error)))
                return
            if not got:
                self.fail("it hung up")
                return
            self._filled += got
            if self._filled == self._wanted:
                self._go_on()

    def _go_on(self) -> None:
        """All of a frame that was wanted is there: want the rest of it, or note it and want the next."""
        head, size = measure(self._frame[: self._filled])
        if self._filled < head + size:
            self._wanted = head if self._filled < head else head + size
            if self._wanted > MAX_REPLY_BYTES:
                self.fail(f"a message of {size} bytes, expected at most {MAX_REPLY_BYTES}", RemoteMisbehaved)
            elif self._wanted > len(self._frame):
                # Its own, since the picture in it goes to the agent.
                grown = np.empty(self._wanted, np.uint8).data
                grown[: self._filled] = self._frame[: self._filled]
                self._frame = grown
            return
        frame = self._frame[: self._filled]
        self._frame, self._filled, self._wanted = memoryview(bytearray(MOST_BYTES)), 0, LEAST_BYTES
        if frame[0] == WHOLE_BINARY and not frame[1] & MASKED:
            self._note(frame[head:])
            return
        self._protocol.receive_data(bytes(frame))
        for event in self._protocol.events_received():
            if isinstance(event, Frame) and event.opcode not in (Opcode.CLOSE, Opcode.PING, Opcode.PONG):
                self._note(bytes(event.data))
        self._answer()

    def _answer(self) -> None:
        """Send what the protocol owes, such as the answer to a ping; note that the remote hung up."""
        self._flush()
        if self._protocol.state is not State.OPEN:
            said = self._protocol.parser_exc or self._protocol.close_rcvd
            self.fail(f"it hung up: {printable(str(said))}")

    def _note(self, data: bytes | memoryview) -> None:
        try:
            envelope, pixels = step_channel.unpack(data)
            if isinstance(envelope.message, Pictured):
                self._picture = _pictured(envelope.message, pixels, self._picture)
        except ProtocolError as error:
            self.fail(f"it broke the protocol: {printable(str(error))}", RemoteMisbehaved)
            return
        self._arrived.append(_arrived(envelope, pixels, self._picture))

    def _flush(self) -> None:
        try:
            self._socket.settimeout(SEND_S)
            for data in self._protocol.data_to_send():
                if data:
                    self._socket.sendall(data)
        except OSError as error:
            self.fail(printable(str(error)))


def _pictured(message: FirstFrame | StepReply | RestoreReply, pixels: memoryview, before: Pixels | None) -> Pixels:
    """Return the picture of a message; ``before`` is the last one, which agents may have kept."""
    if not isinstance(message, StepReply) or message.rows is None:
        picture = np.frombuffer(pixels, np.uint8, prod(message.frame)).reshape(message.frame)
    elif before is None or before.shape != message.frame:
        raise MalformedEnvelope(f"rows of a frame of {message.frame}, which none before was")
    elif not message.rows:
        return before
    else:
        picture, at = before.copy(), 0
        for first, count in step_channel.runs_of(message):
            rows = picture[first : first + count]
            rows.ravel()[:] = np.frombuffer(pixels, np.uint8, rows.size, at)
            at += rows.size
    picture.flags.writeable = False
    return picture


def _arrived(envelope: Envelope[ServerMessage], pixels: memoryview, picture: Pixels | None) -> Arrived:
    message, headers = envelope
    told: dict[str, Any] = {"episode_id": headers.episode_id or 0}
    if isinstance(message, Pictured):
        told.update(vision=picture, env_state=RUNNING)
    if isinstance(message, FirstFrame | StepReply):
        texts = (message.text,) if message.text else ()
        told.update(texts=texts, observation=message.observation, info=message.info, first=True)
    if isinstance(message, StepReply):
        ends = {"done": message.done, "terminated": message.terminated, "truncated": message.truncated}
        told.update(reward=message.reward, first=False, **ends)
        if message.sound is not None:
            # A copy: it is kept when the picture is no more.
            sound = np.frombuffer(pixels[len(pixels) - FRAME_BYTES * message.sound :].tobytes(), "<i2")
            told["sound"] = sound.reshape(message.sound, CHANNELS)
    return Arrived(message, Result(**told), headers.parent_message_id)
