"""Opening a connection: TCP, TLS and the handshake, blocking, within one deadline."""

from __future__ import annotations

import contextlib
import socket
import ssl
import time
from typing import Final

from pluriverse_protocol.rfb import messages
from pluriverse_protocol.rfb.errors import NoCommonSecurity
from pluriverse_protocol.rfb.handshake import Handshake, ServerInit
from pluriverse_protocol.rfb.security import Tls

from .options import TlsOptions, VncOptions
from .transport import Transport

# A handshake is some dozens of bytes.
RECEIVE_BYTES: Final = 4096


def open_transport(
    host: str, port: int, password: str | None, options: VncOptions, timeout_s: float
) -> tuple[Transport, ServerInit, bytes]:
    """Connect, shake hands, and choose pixel format and encodings; return what came after ServerInit as well.

    Raises:
        OSError: the network or TLS failed. TimeoutError: all together took longer than ``timeout_s`` seconds.
        RfbError: it is no VNC server, or it refuses this client.
    """
    deadline = time.monotonic() + timeout_s

    def before_deadline(connected: socket.socket) -> socket.socket:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"the handshake with {host} took too long")
        connected.settimeout(left)
        return connected

    with contextlib.ExitStack() as undo:
        connected = undo.enter_context(socket.create_connection((host, port), timeout=timeout_s))
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        handshake = Handshake(password=password, require_tls=options.tls.required)
        while handshake.done is None:
            data = before_deadline(connected).recv(RECEIVE_BYTES)
            if not data:
                raise handshake.hung_up()
            before_deadline(connected).sendall(handshake.feed(data))
            if handshake.wants_tls is not None:
                context = tls_context(handshake.wants_tls, options.tls)
                connected = context.wrap_socket(before_deadline(connected), server_hostname=host)
                undo.enter_context(connected)
                before_deadline(connected).sendall(handshake.tls_started())
        wishes = messages.set_pixel_format() + messages.set_encodings(options.encoding_numbers())
        before_deadline(connected).sendall(wishes)
        undo.pop_all()
        connected.settimeout(None)
        return Transport.over(connected), handshake.done, handshake.leftover


def tls_context(kind: Tls, options: TlsOptions) -> ssl.SSLContext:
    """Return the TLS settings for such a server; raise ``NoCommonSecurity`` if it lacks a certificate to check."""
    if kind is Tls.CERTIFICATE:
        context = ssl.create_default_context(cafile=options.ca_file)
        context.check_hostname = options.check
        context.verify_mode = ssl.CERT_REQUIRED if options.check else ssl.CERT_NONE
        return context
    if options.required and options.check:
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
