"""An ASGI application on a port, until Ctrl-C."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any, Final

import uvicorn

from pluriverse.errors import ConfigurationError

# After Ctrl-C, what is under way may take as long, in seconds.
GRACE_S: Final = 2


def parse_where(where: str) -> tuple[str, int]:
    """Return the host and the port of ``HOST:PORT``.

    Raises:
        ConfigurationError: it isn't that.
    """
    host, _, port = where.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ConfigurationError(f"{where!r:.80} is no address; expected HOST:PORT, such as 127.0.0.1:8000")
    return host.strip("[]"), int(port)


def serve(app: Any, host: str, port: int, greet: Callable[[], object]) -> None:
    """Serve ``app``; ``greet`` is called when clients can connect.

    Raises:
        ConfigurationError: the port can't be had.
    """
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise ConfigurationError(f"{host}:{port} can't be listened on: {error.strerror}; choose another") from error
    with listener:
        greet()
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=GRACE_S)
        uvicorn.Server(config).run(sockets=[listener])
