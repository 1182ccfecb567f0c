"""A port of a remote that speaks HTTP and WebSocket, with TLS or without."""

from __future__ import annotations

import base64
import socket
import ssl
from dataclasses import dataclass, field
from typing import Literal

from .tls import TlsOptions


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a rewarder port is, and what lets this side in.

    ``path`` is what an ingress puts before all paths, ``"/"`` where there is none; it begins and ends with a slash.
    ``tls`` None: clear text.
    """

    host: str
    port: int
    password: str | None = field(default=None, repr=False)
    path: str = "/"
    tls: TlsOptions | None = None

    def __str__(self) -> str:
        return f"{self.authority}{self.path.rstrip('/')}"

    @property
    def authority(self) -> str:
        return f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    def url(self, scheme: Literal["http", "ws"], path: str = "/") -> str:
        """Return the URL of a path of this port, without the password."""
        return f"{scheme}{'' if self.tls is None else 's'}://{self.authority}{self.below(path)}"

    def below(self, path: str) -> str:
        """Return a path of this port as an ingress has it."""
        return self.path + path.removeprefix("/")

    def headers(self) -> dict[str, str]:
        """Return a request's headers: the password as username, as all agents of v0 send it."""
        if self.password is None:
            return {}
        return {"Authorization": "Basic " + base64.b64encode(f"{self.password}:".encode()).decode()}

    def context(self) -> ssl.SSLContext | None:
        """Return the settings of TLS; None without it. See ``TlsOptions.context``."""
        return None if self.tls is None else self.tls.context()

    def connect(self, timeout_s: float) -> socket.socket:
        """Connect by TCP, and TLS where there is; TCP and TLS may each take ``timeout_s`` seconds."""
        connected = socket.create_connection((self.host, self.port), timeout_s)
        try:
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            context = self.context()
            return connected if context is None else context.wrap_socket(connected, server_hostname=self.host)
        except BaseException:
            connected.close()
            raise
