"""A socket that speaks RFB as bytes, be it in a WebSocket or not: what the handshake is made on, blocking."""

from __future__ import annotations

import socket
import time
from typing import Final

from pluriverse_protocol.rfb import web_stream
from pluriverse_protocol.rfb.handshake import Handshake, ServerInit
from pluriverse_protocol.rfb.web_stream import WebStream

from .endpoint import Endpoint
from .web_socket import upgrade

# A handshake is some dozens of bytes.
RECEIVE_BYTES: Final = 4096


class ScreenSocket:
    """A connected socket, ``raw``; with a ``stream`` the bytes are in messages of a WebSocket."""

    def __init__(self, raw: socket.socket, deadline: float, stream: WebStream | None = None) -> None:
        self.raw = raw
        self.stream = stream
        self._deadline = deadline

    @classmethod
    def of_port(cls, endpoint: Endpoint, timeout_s: float) -> ScreenSocket:
        """Connect to a VNC port; everything has to be done in ``timeout_s``."""
        deadline = time.monotonic() + timeout_s
        raw = socket.create_connection((endpoint.host, endpoint.port), timeout_s)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return cls(raw, deadline)

    @classmethod
    def of_web(cls, endpoint: Endpoint, timeout_s: float) -> ScreenSocket:
        """Connect to the screen on a rewarder port; everything has to be done in ``timeout_s`` seconds."""
        deadline = time.monotonic() + timeout_s
        raw = endpoint.connect(timeout_s)
        try:
            upgrade(raw, endpoint.url("ws", web_stream.PATH), endpoint.headers(), deadline)
        except BaseException:
            raw.close()
            raise
        return cls(raw, deadline, WebStream(masks=True))

    def receive(self) -> bytes:
        """Wait for some bytes; empty if the server hung up."""
        while True:
            self._before_deadline()
            # No part of a message's head may be left behind for who reads on.
            data = self.raw.recv(RECEIVE_BYTES if self.stream is None else min(RECEIVE_BYTES, self.stream.wanted))
            if self.stream is None or not data:
                return data
            data = self.stream.feed(data)
            if self.stream.closed is not None:
                return b""
            if answers := self.stream.take_answers():
                self.raw.sendall(answers)
            if data:
                return data

    def send(self, data: bytes) -> None:
        self._before_deadline()
        if data:
            self.raw.sendall(data if self.stream is None else self.stream.wrap(data))

    def shake_hands(self, handshake: Handshake) -> ServerInit:
        """Go through RFB's handshake; return the server's description of its screen."""
        while handshake.done is None:
            data = self.receive()
            if not data:
                raise handshake.hung_up()
            self.send(handshake.feed(data))
        return handshake.done

    def _before_deadline(self) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the handshake took too long")
        self.raw.settimeout(left)
