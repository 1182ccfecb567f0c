"""Opening a connection: TCP, TLS and the handshake, blocking, within one deadline."""

from __future__ import annotations

import contextlib
import ssl

from pluriverse_protocol.rfb import messages
from pluriverse_protocol.rfb.errors import NoCommonSecurity
from pluriverse_protocol.rfb.handshake import Handshake, ServerInit
from pluriverse_protocol.rfb.security import Tls

from pluriverse.endpoint import Endpoint
from pluriverse.screen_socket import ScreenSocket
from pluriverse.tls import TlsOptions
from pluriverse.transport import Transport

from .options import VncOptions


def open_transport(
    endpoint: Endpoint, options: VncOptions, timeout_s: float, *, web: bool
) -> tuple[Transport, ServerInit, bytes]:
    """Connect, shake hands, and choose pixel format and encodings; return what came after ServerInit as well.

    ``web``: the endpoint is a rewarder port; else it is a VNC port.

    Raises:
        OSError: the network or TLS failed. TimeoutError: all together took longer than ``timeout_s`` seconds.
        RfbError: it is no VNC server, or it refuses this client.
    """
    with contextlib.ExitStack() as undo:
        opened = (ScreenSocket.of_web if web else ScreenSocket.of_port)(endpoint, timeout_s)
        undo.enter_context(opened.raw)
        # A WebSocket has TLS around it, or none.
        handshake = Handshake(password=endpoint.password, require_tls=options.tls.required and not web)
        while handshake.done is None:
            data = opened.receive()
            if not data:
                raise handshake.hung_up()
            opened.send(handshake.feed(data))
            if handshake.wants_tls is not None:
                context = tls_context(handshake.wants_tls, options.tls)
                opened.raw = undo.enter_context(context.wrap_socket(opened.raw, server_hostname=endpoint.host))
                opened.send(handshake.tls_started())
        opened.send(messages.set_pixel_format() + messages.set_encodings(options.encoding_numbers()))
        undo.pop_all()
        opened.raw.settimeout(None)
        return Transport.over(opened.raw, opened.stream), handshake.done, handshake.leftover


def tls_context(kind: Tls, options: TlsOptions) -> ssl.SSLContext:
    """Return the TLS settings for such a server; raise ``NoCommonSecurity`` if it lacks a certificate to check."""
    if kind is Tls.CERTIFICATE:
        return options.context()
    if options.required and (options.check or options.fingerprint is not None):
        raise NoCommonSecurity(
            "the server has no certificate to check (it offers anonymous TLS only): give it one, or connect with "
            "TlsOptions(required=True, check=False), which keeps out who listens but not who pretends to be the server"
        )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    # Anonymous key exchange was dropped from TLS 1.3, and OpenSSL has it switched off above this level.
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("aNULL:@SECLEVEL=0")
    return context
