"""The step channel of an agent that plays in lockstep: a WebSocket that the daemon hands to who steps."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import struct
import time
from typing import Final

from pluriverse_protocol import RemoteProtocolError, decode_from_agent, encode, step_channel
from pluriverse_protocol.control_frames import POLICY_VIOLATION, TOO_MANY, ControlFrames
from pluriverse_protocol.errors import MessageId
from pluriverse_protocol.limits import MAX_MESSAGE_BYTES
from pluriverse_protocol.messages import (
    AgentBegin,
    AgentRestore,
    AgentSnapshot,
    AgentStep,
    ErrorReply,
    FirstFrame,
    Headers,
    RestoreReply,
    SnapshotReply,
    StepReply,
    Tree,
    TreeReply,
)
from pluriverse_protocol.web_frames import WHOLE_BINARY, head
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol

Asked = AgentStep | AgentSnapshot | AgentRestore | AgentBegin | Tree
"""What an agent may ask for on a step channel."""

Answer = FirstFrame | StepReply | SnapshotReply | RestoreReply | TreeReply | ErrorReply

BEGINS_ELSEWHERE: Final = "v0.env.reset begins this environment's episodes"
IN_REAL_TIME: Final = 'the episode is in real time; begin one with v0.env.reset and "clock": "lockstep"'

STEP_CHANNEL_VARIABLE: Final = "PLURIVERSE_STEP_CHANNEL"

# An agent that takes nothing for so long is hung up on: its program stands still meanwhile.
SEND_S: Final = 10.0

_SEND_TIMEOUT: Final = struct.pack("ll", int(SEND_S), 0)

# How often the daemon hears of frames, of which there may be thousands a second: people see how many there are, and an
# agent that steps isn't idle.
REPORT_S: Final = 0.5

READ_BYTES: Final = 64 * 1024

_QUIET: Final = logging.getLogger("pluriverse.step_channel")
_QUIET.setLevel(logging.WARNING)


class ReportPace:
    """Decides when to report frames to the daemon: at once, and then ``REPORT_S`` after the last time."""

    def __init__(self) -> None:
        self._reported_at = 0.0

    def take(self) -> bool:
        """Return whether it is now, and if so count from now on."""
        now = time.monotonic()
        if now < self._reported_at + REPORT_S:
            return False
        self._reported_at = now
        return True


class StepChannel:
    """A connected step channel. ``closed`` once either side has hung up."""

    def __init__(self, connection: socket.socket, view: step_channel.View | None = None) -> None:
        """Take over a WebSocket whose handshake is done; ``view`` is what its agent wants of pictures."""
        self.closed = False
        self.view = view
        self._socket = connection
        # With a time limit of Python's, reads without waiting would wait.
        self._socket.setblocking(True)
        with contextlib.suppress(OSError):
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _SEND_TIMEOUT)
            # With TLS it is one end of a pair, which has no such option.
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._protocol = ServerProtocol(state=State.OPEN, max_size=MAX_MESSAGE_BYTES, logger=_QUIET)
        self._control_frames = ControlFrames(time.monotonic)
        self._messages = 0

    def fileno(self) -> int:
        """Return the socket, for ``select``: readable when there are steps, or the agent has hung up."""
        return self._socket.fileno()

    def receive(self) -> list[tuple[Asked, Headers]]:
        """Return what has been asked for, without waiting; what doesn't belong here is answered with an error."""
        try:
            data = self._socket.recv(READ_BYTES, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            self.close()
            return []
        self._protocol.receive_data(data)
        steps: list[tuple[Asked, Headers]] = []
        for frame in self._protocol.events_received():
            if isinstance(frame, Frame) and frame.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
                steps += self._steps(frame)
            elif not self._control_frames.take():
                self._protocol.fail(POLICY_VIOLATION, TOO_MANY)
                break
        # Answers to pings, and to a close.
        self._flush()
        if self._protocol.state is not State.OPEN:
            self.close()
        return steps

    def send(
        self,
        message: Answer,
        episode_id: int,
        parent: MessageId | None = None,
        pixels: bytes | memoryview = b"",
        sound: bytes = b"",
    ) -> None:
        """Send all of a message; waits for an agent that is slow to read, and hangs up on one that isn't."""
        # The agent's close may follow the request that is answered here.
        if self.closed or self._protocol.state is not State.OPEN:
            return
        self._messages += 1
        headers = Headers(self._messages, time.time(), episode_id, parent)
        text = step_channel.pack(encode(message, headers))
        try:
            # Past the protocol, which would copy the pixels.
            size = len(text) + len(pixels) + len(sound)
            self._socket.sendall(head(WHOLE_BINARY, size) + text, socket.MSG_MORE if pixels or sound else 0)
            if pixels:
                self._socket.sendall(pixels, socket.MSG_MORE if sound else 0)
            if sound:
                self._socket.sendall(sound)
        except OSError:
            self.close()

    def close(self) -> None:
        """Hang up; may be called repeatedly."""
        self.closed = True
        self._socket.close()

    def _steps(self, frame: Frame) -> list[tuple[Asked, Headers]]:
        if frame.opcode is not Opcode.TEXT or not frame.fin:
            self.send(ErrorReply("expected a whole message in a text frame"), 0)
            return []
        try:
            message, headers = decode_from_agent(bytes(frame.data))
        except RemoteProtocolError as error:
            self.send(ErrorReply(str(error)), 0, error.message_id)
            return []
        if not isinstance(message, Asked):
            self.send(ErrorReply("this takes only steps, snapshots, restores and trees"), 0, headers.message_id)
            return []
        if headers.episode_id is None and not isinstance(message, AgentBegin):
            # It may be on its way while an episode ends, and would be the next one's.
            self.send(ErrorReply("a step names its episode in the header episode_id"), 0, headers.message_id)
            return []
        return [(message, headers)]

    def _flush(self) -> None:
        try:
            for data in self._protocol.data_to_send():
                if data:
                    self._socket.sendall(data)
        except OSError:
            self.close()


class HandoverSocket:
    """The program's end of the socket on which the daemon hands step channels over."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection

    @classmethod
    def from_environment(cls) -> HandoverSocket | None:
        """Connect to the socket in ``PLURIVERSE_STEP_CHANNEL``; None: the daemon has named none, or is gone."""
        path = os.environ.get(STEP_CHANNEL_VARIABLE)
        if not path:
            return None
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        try:
            connection.connect(path)
        except OSError:
            # The report socket has the reason.
            connection.close()
            return None
        return cls(connection)

    def fileno(self) -> int:
        """Return the socket, for ``select``: readable when there is a step channel, or the daemon hung up."""
        return self._socket.fileno()

    def accept(self) -> tuple[int, StepChannel | None]:
        """Return the slot and the step channel that was handed over; None: the agent lost its seat with all of them.

        Raises:
            ConnectionError: the daemon closed the connection.
        """
        data, descriptors, _, _ = socket.recv_fds(self._socket, step_channel.HANDOVER_BYTES, 1)
        if not data:
            raise ConnectionError("the daemon closed the connection")
        if not descriptors:
            return 0, None
        # What the program starts must not keep the agent's line open after it; recv_fds leaves flags out.
        os.set_inheritable(descriptors[0], False)
        slot, view = step_channel.unpack_handover(data)
        return slot, StepChannel(socket.socket(fileno=descriptors[0]), view)

    def close(self) -> None:
        """Take no more step channels."""
        self._socket.close()
