"""An agent that steps a program in lockstep, and the daemon's end of the socket on which it gets such agents."""

from __future__ import annotations

import itertools
import os
import socket
import time
from collections import deque
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol import Headers, encode, step_channel
from pluriverse_protocol.events import Event
from pluriverse_protocol.messages import (
    AgentMessage,
    AgentStep,
    ErrorReply,
    FirstFrame,
    RestoreReply,
    ServerMessage,
    StepReply,
)
from pluriverse_protocol.sound import CHANNELS
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

DEADLINE_S = 60.0


class Heard(NamedTuple):
    """A message, its headers, its pixels: (height, width, channels), and its sound: (frames, 2)."""

    message: ServerMessage
    headers: Headers
    pixels: NDArray[np.uint8]
    sound: NDArray[np.int16]


class StepChannelAgent:
    """The agent's end of a step channel whose handshake is done."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.socket.settimeout(DEADLINE_S)
        self.protocol = ClientProtocol(parse_uri("ws://127.0.0.1/step"), state=State.OPEN, max_size=None)
        self._waiting: deque[Heard] = deque()
        self._message_ids = itertools.count(1)
        self.episode = 1
        self._pixels = np.zeros((0, 0, 0), np.uint8)

    def step(self, n: int = 1, frames: int = 1, events: Sequence[Event] = (), episode: int | None = None) -> int:
        """Ask for a step, of the last episode that was heard of if none is named; return the request's message id."""
        return self.send(AgentStep(n, frames, tuple(events)), self.episode if episode is None else episode)

    def send(self, message: AgentMessage, episode: int | None = None) -> int:
        message_id = next(self._message_ids)
        self.send_text(encode(message, Headers(message_id, time.time(), episode)))
        return message_id

    def send_text(self, text: str | bytes) -> None:
        self.protocol.send_text(text.encode() if isinstance(text, str) else text)
        self.flush()

    def flush(self) -> None:
        """Send what ``protocol`` has to send, in one write."""
        self.socket.sendall(b"".join(self.protocol.data_to_send()))

    def hear(self) -> Heard:
        while not self._waiting:
            assert self._read(), "the step channel was closed"
        return self._waiting.popleft()

    def hear_step(self, n: int) -> tuple[StepReply, NDArray[np.uint8]]:
        message, _, pixels, _ = self.hear()
        assert isinstance(message, StepReply), message
        assert message.n == n
        return message, pixels

    def hear_first(self) -> Heard:
        heard = self.hear()
        assert isinstance(heard.message, FirstFrame), heard.message
        return heard

    def hear_error(self) -> str:
        message = self.hear().message
        assert isinstance(message, ErrorReply), message
        return message.message

    def hear_end(self) -> int | None:
        """Return the code with which the other end hangs up, None if it says nothing, once it has."""
        while self._read():
            pass
        return self.protocol.close_rcvd.code if self.protocol.close_rcvd else None

    def close(self) -> None:
        """Go without a word."""
        self.socket.close()

    def _read(self) -> bool:
        try:
            data = self.socket.recv(1 << 20)
        except ConnectionError:
            data = b""
        if not data:
            return False
        self.protocol.receive_data(data)
        for event in self.protocol.events_received():
            if isinstance(event, Frame) and event.opcode is Opcode.BINARY:
                (message, headers), rest = step_channel.unpack(bytes(event.data))
                self.episode = headers.episode_id or self.episode
                shape = message.frame if isinstance(message, FirstFrame | StepReply | RestoreReply) else (0, 0, 0)
                runs = [(0, shape[0])]
                if isinstance(message, StepReply) and message.rows is not None:
                    runs = step_channel.runs_of(message)
                pixels, at = self._pixels.copy() if self._pixels.shape == shape else np.zeros(shape, np.uint8), 0
                for first, count in runs:
                    size = count * prod(shape[1:])
                    pixels[first : first + count] = np.frombuffer(rest, np.uint8, size, at).reshape(count, *shape[1:])
                    at += size
                if pixels.size:
                    self._pixels = pixels
                sound = np.frombuffer(rest[at:], np.int16).reshape(-1, CHANNELS)
                self._waiting.append(Heard(message, headers, pixels, sound))
        return True


class StepChannelListener:
    """Listens at ``path``; one program connects, and is handed step channels."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "step_channels.sock"
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(os.fspath(self.path))
        self._listener.listen(1)
        self._listener.settimeout(DEADLINE_S)
        self.program: socket.socket | None = None
        self._agents: list[StepChannelAgent] = []

    def __enter__(self) -> StepChannelListener:
        return self

    def __exit__(self, *_: object) -> None:
        for agent in self._agents:
            agent.close()
        if self.program is not None:
            self.program.close()
        self._listener.close()

    def take_back(self) -> None:
        """Have the program hang up on its agent."""
        assert self.program is not None
        self.program.send(bytes(step_channel.HANDOVER_BYTES))

    def open_step_channel(self, slot: int = 0, view: step_channel.View | None = None) -> StepChannelAgent:
        """Hand a new agent's channel to the program, for which the first call waits; ``view`` is of its pictures."""
        if self.program is None:
            self.program, _ = self._listener.accept()
        mine, theirs = tcp_pair()
        with theirs:
            socket.send_fds(self.program, [step_channel.pack_handover(slot, view)], [theirs.fileno()])
        self._agents.append(StepChannelAgent(mine))
        return self._agents[-1]


def tcp_pair() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        one = socket.create_connection(server.getsockname())
        other, _ = server.accept()
    return one, other
