"""Opening a WebSocket, blocking, on a socket that another reader takes over."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Mapping
from typing import Final

from pluriverse_protocol.strict_json import parse_object
from websockets.client import ClientProtocol
from websockets.exceptions import WebSocketException
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import parse_uri

from .errors import printable

_QUIET: Final = logging.getLogger("pluriverse.web_socket")
_QUIET.setLevel(logging.WARNING)


class Refused(ConnectionError):
    """The server refused the WebSocket; with the reason in its words."""


def upgrade(
    connected: socket.socket, url: str, headers: Mapping[str, str], deadline: float, *, max_size: int | None = None
) -> ClientProtocol:
    """Shake hands by ``deadline`` (of ``time.monotonic``), and read no byte beyond; return the protocol's state."""
    protocol = ClientProtocol(parse_uri(url), max_size=max_size, logger=_QUIET)
    request = protocol.connect()
    for name, value in headers.items():
        request.headers[name] = value
    protocol.send_request(request)
    connected.sendall(b"".join(protocol.data_to_send()))
    while protocol.state is State.CONNECTING:
        left = deadline - time.monotonic()
        # One that talks on and on would never let a read time out.
        if left <= 0:
            raise TimeoutError("the WebSocket's handshake took too long")
        connected.settimeout(left)
        # No more than belongs to it: what follows are frames.
        data = connected.recv(1)
        try:
            if data:
                protocol.receive_data(data)
            else:
                protocol.receive_eof()
        except WebSocketException as error:
            raise Refused(printable(str(error))) from error
        for event in protocol.events_received():
            if isinstance(event, Response) and protocol.handshake_exc is not None:
                raise Refused(printable(_reason(event))) from protocol.handshake_exc
        if protocol.handshake_exc is not None:
            raise Refused(printable(str(protocol.handshake_exc))) from protocol.handshake_exc
    return protocol


def _reason(response: Response) -> str:
    """Return the remote's own words, or what HTTP calls it."""
    said = bytes(response.body or b"").decode(errors="replace")
    try:
        return str(parse_object(said)["error"])
    except (ValueError, KeyError):
        return said or response.reason_phrase
