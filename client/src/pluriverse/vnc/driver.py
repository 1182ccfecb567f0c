"""Connections to VNC servers, each served by the native driver where it was built, by Python otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from pluriverse_protocol.rfb import messages

from pluriverse.endpoint import Endpoint
from pluriverse.rfb import Handshake, decoder_class
from pluriverse.rfb.python_decoder import PythonDecoder
from pluriverse.screen_socket import ScreenSocket
from pluriverse.waker import WAKER

from .connection import VncConnection
from .options import VncOptions
from .python_pump import PythonPump


def connect(
    host: str,
    port: int,
    password: str | None = None,
    *,
    options: VncOptions | None = None,
    timeout_s: float = 10.0,
) -> VncConnection:
    """Connect to a VNC server and shake hands; blocks for at most ``timeout_s`` seconds."""
    return _connect(Endpoint(host, port, password), options or VncOptions(), timeout_s, web=False)


def connect_web(endpoint: Endpoint, *, options: VncOptions | None = None, timeout_s: float = 10.0) -> VncConnection:
    """Connect to the screen on a remote's rewarder port, in a WebSocket; else as ``connect``."""
    return _connect(endpoint, options or VncOptions(), timeout_s, web=True)


def wait_for_frames(connections: Sequence[VncConnection], timeout_s: float) -> list[int]:
    """Wait until a connection has a frame that ``frame()`` hasn't returned yet; return the indices of all that have.

    Empty: none has within ``timeout_s`` seconds, or all of them are dead.
    """

    def fresh() -> list[int]:
        return [index for index, each in enumerate(connections) if each.fresh]

    WAKER.wait_for(lambda: bool(fresh()) or all(each.error is not None for each in connections), timeout_s)
    return fresh()


def _connect(endpoint: Endpoint, options: VncOptions, timeout_s: float, *, web: bool) -> VncConnection:
    """Connect, shake hands, and choose pixel format and encodings. ``web``: the endpoint is a rewarder port."""
    decoder = decoder_class(options.implementation)
    with ExitStack() as undo:
        opened = (ScreenSocket.of_web if web else ScreenSocket.of_port)(endpoint, timeout_s)
        undo.enter_context(opened.raw)
        handshake = Handshake(password=endpoint.password)
        desktop = opened.shake_hands(handshake)
        opened.send(messages.set_pixel_format() + messages.set_encodings(options.encoding_numbers()))
        undo.pop_all()
    opened.raw.setblocking(False)
    # The native driver's threads read a descriptor, and what Python's TLS has decrypted is behind none.
    if decoder is PythonDecoder or endpoint.tls is not None:
        return PythonPump(decoder, opened, desktop, handshake.leftover, options)
    from .native_pump import NativePump

    return NativePump(opened, desktop, handshake.leftover, options)
