"""From an address to a connection that has shaken hands: the blocking part, bounded by one deadline."""

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

from .link import Link
from .options import TlsOptions, VncOptions

# A handshake is some dozens of bytes.
RECEIVE_BYTES: Final = 4096


def open_link(
    host: str, port: int, password: str | None, options: VncOptions, timeout_s: float
) -> tuple[Link, ServerInit, bytes]:
    """Connect, shake hands, and say how pixels should come. Returns the link, the desktop, and what came after it.

    Raises:
        OSError: the network, or TLS, said no. TimeoutError: all together took longer than ``timeout_s`` seconds.
        RfbError: the server isn't one of VNC, or doesn't let this side in.
    """
    deadline = time.monotonic() + timeout_s
    with contextlib.ExitStack() as undo:
        connected = undo.enter_context(socket.create_connection((host, port), timeout=timeout_s))
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        dialogue = _Dialogue(connected, host, options.tls, deadline)
        undo.callback(dialogue.close)
        handshake = Handshake(password=password, require_tls=options.tls.required)
        desktop = dialogue.shake_hands(handshake)
        dialogue.send(messages.set_pixel_format() + messages.set_encodings(options.encoding_numbers()))
        undo.pop_all()
        return dialogue.link(), desktop, handshake.leftover


class _Dialogue:
    """The socket while it is talked through by one thread, in plain or through TLS."""

    def __init__(self, connected: socket.socket, host: str, options: TlsOptions, deadline: float) -> None:
        self._socket = connected
        self._host = host
        self._options = options
        self._deadline = deadline

    def shake_hands(self, handshake: Handshake) -> ServerInit:
        """Talk until the handshake is done."""
        while handshake.done is None:
            data = self._receive()
            if not data:
                raise handshake.hung_up()
            self.send(handshake.feed(data))
            if handshake.wants_tls is not None:
                self._start_tls(handshake.wants_tls)
                self.send(handshake.tls_started())
        return handshake.done

    def send(self, data: bytes) -> None:
        """Send all of it."""
        if data:
            self._socket.settimeout(self._left())
            self._socket.sendall(data)

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def link(self) -> Link:
        """Hand the socket on."""
        self._socket.settimeout(None)
        return Link.over_tls(self._socket) if isinstance(self._socket, ssl.SSLSocket) else Link(self._socket)

    def _receive(self) -> bytes:
        self._socket.settimeout(self._left())
        return self._socket.recv(RECEIVE_BYTES)

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"the handshake with {self._host} took too long")
        return left

    def _start_tls(self, kind: Tls) -> None:
        context = tls_context(kind, self._options)
        self._socket.settimeout(self._left())
        self._socket = context.wrap_socket(self._socket, server_hostname=self._host)


def tls_context(kind: Tls, options: TlsOptions) -> ssl.SSLContext:
    """How TLS is to be done with a server that proves who it is in this way.

    Raises:
        NoCommonSecurity: it doesn't, and that was asked for.
    """
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
