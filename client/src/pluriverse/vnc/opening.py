"""Opening a connection: TCP, TLS and the handshake, blocking, within one deadline."""

from __future__ import annotations

import contextlib

from pluriverse_protocol.rfb import messages
from pluriverse_protocol.rfb.handshake import Handshake, ServerInit

from pluriverse.endpoint import Endpoint
from pluriverse.screen_socket import ScreenSocket

from .options import VncOptions


def open_connection(
    endpoint: Endpoint, options: VncOptions, timeout_s: float, *, web: bool
) -> tuple[ScreenSocket, ServerInit, bytes]:
    """Connect, shake hands, and choose pixel format and encodings; return what came after ServerInit as well.

    ``web``: the endpoint is a rewarder port; else it is a VNC port.
    """
    with contextlib.ExitStack() as undo:
        opened = (ScreenSocket.of_web if web else ScreenSocket.of_port)(endpoint, timeout_s)
        undo.enter_context(opened.raw)
        handshake = Handshake(password=endpoint.password)
        while handshake.done is None:
            data = opened.receive()
            if not data:
                raise handshake.hung_up()
            opened.send(handshake.feed(data))
        opened.send(messages.set_pixel_format() + messages.set_encodings(options.encoding_numbers()))
        undo.pop_all()
        opened.raw.setblocking(False)
        return opened, handshake.done, handshake.leftover
