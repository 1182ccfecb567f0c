"""An ASGI application on a port until Ctrl-C, for those who have its token."""

from __future__ import annotations

import base64
import binascii
import hmac
import ipaddress
import os
import secrets
import socket
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

import uvicorn

from pluriverse.errors import ConfigurationError

# After Ctrl-C, what is under way may take as long, in seconds.
GRACE_S: Final = 2

TOKEN_VARIABLE: Final = "PLURIVERSE_TOKEN"  # noqa: S105 - its name
TOKEN_BYTES: Final = 24

# Container engines ask there without a token whether the server lives, and learn nothing else.
HEALTH: Final = "/health"

# A server on all addresses has more names than it knows.
ALL_ADDRESSES: Final = ("0.0.0.0", "::")


def parse_where(where: str) -> tuple[str, int]:
    """Return the host and the port of ``HOST:PORT``."""
    host, _, port = where.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ConfigurationError(f"{where!r:.80} isn't an address; expected HOST:PORT, such as 127.0.0.1:8000")
    return host.strip("[]"), int(port)


def take_token() -> tuple[str, bool]:
    """Return the token of ``$PLURIVERSE_TOKEN``, or else a new one; and whether it is new, and so must be printed."""
    given = os.environ.get(TOKEN_VARIABLE)
    return given or secrets.token_urlsafe(TOKEN_BYTES), not given


def guarded(app: Any, host: str, token: str) -> Any:
    """Return an ASGI application, served at ``host``, that answers only requests with ``token``.

    The token is a bearer token, or the password of a URL (``http://token:TOKEN@HOST``). Web pages of other origins are
    refused, and so are other names than ``host``, localhost and IP addresses unless it is served on all addresses.
    """

    async def checked(scope: Any, receive: Any, send: Any) -> None:
        refusal = None if scope["type"] == "lifespan" else _refusal(scope, host, token)
        if refusal is None:
            await app(scope, receive, send)
            return
        status, why = refusal
        headers = [(b"content-type", b"text/plain"), *([(b"www-authenticate", b"Bearer")] if status == 401 else [])]
        answer = "websocket.http.response" if scope["type"] == "websocket" else "http.response"
        await send({"type": f"{answer}.start", "status": status, "headers": headers})
        await send({"type": f"{answer}.body", "body": f"{why}\n".encode()})

    return checked


def serve(app: Any, host: str, port: int, greet: Callable[[], object]) -> None:
    """Serve ``app``; ``greet`` is called when clients can connect."""
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise ConfigurationError(f"{host}:{port} can't be listened on: {error.strerror}; choose another") from error
    with listener:
        greet()
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=GRACE_S)
        uvicorn.Server(config).run(sockets=[listener])


def _refusal(scope: Any, host: str, token: str) -> tuple[int, str] | None:
    """Return the status and the words that a request is refused with, or None."""
    headers = dict(scope["headers"])
    called = headers.get(b"host", b"")
    if host not in ALL_ADDRESSES and not _is_name_of(host, called.decode("latin-1")):
        return 421, f"the header Host doesn't match this server; expected {host}, localhost or an address"
    origin = headers.get(b"origin")
    if origin is not None and origin.partition(b"://")[2] != called:
        return 403, "web pages of other origins may not use this server"
    if scope["path"] != HEALTH and not hmac.compare_digest(_given(headers.get(b"authorization", b"")), token.encode()):
        return 401, "the token is missing or wrong: send Authorization: Bearer TOKEN, or http://token:TOKEN@HOST"
    return None


def _is_name_of(host: str, called: str) -> bool:
    try:
        name = urlsplit(f"//{called}").hostname or ""
        # An attacker whose own name leads here has a name, not an address.
        return name in (host.lower(), "localhost") or bool(ipaddress.ip_address(name))
    except ValueError:
        return False


def _given(authorization: bytes) -> bytes:
    """Return the token in an ``Authorization`` header, or an empty string."""
    scheme, _, credentials = authorization.partition(b" ")
    if scheme.lower() == b"bearer":
        return credentials
    try:
        return base64.b64decode(credentials, validate=True).partition(b":")[2] if scheme.lower() == b"basic" else b""
    except binascii.Error:
        return b""
