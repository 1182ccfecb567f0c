"""The server's end of a WebSocket's handshake, on a socket that a test goes on with byte by byte."""

from __future__ import annotations

import socket

from websockets.http11 import Request
from websockets.server import ServerProtocol


def shake_hands(connection: socket.socket) -> tuple[Request, bytes]:
    """Take a request; return it, and the answer that opens the WebSocket."""
    protocol = ServerProtocol()
    while not (events := protocol.events_received()):
        protocol.receive_data(connection.recv(4096))
    (request,) = events
    assert isinstance(request, Request)
    protocol.send_response(protocol.accept(request))
    return request, b"".join(protocol.data_to_send())
